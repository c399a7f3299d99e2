#include "platform/line_output.hpp"

#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

namespace callsign::platform {
namespace {

using namespace std::chrono_literals;

class line_output_test : public ::testing::Test {
  protected:
    line_output_test() { EXPECT_EQ(::pipe(ends_), 0); }
    ~line_output_test() override {
        if (ends_[0] >= 0) ::close(ends_[0]);
        if (ends_[1] >= 0) ::close(ends_[1]);
    }
    void close_writing() { ::close(std::exchange(ends_[1], -1)); }
    std::string read_all() {
        close_writing();
        std::string all;
        char bytes[65536];
        for (ssize_t n = 0; (n = ::read(ends_[0], bytes, sizeof bytes)) > 0;) {
            all.append(bytes, static_cast<std::size_t>(n));
        }
        return all;
    }

    int ends_[2]{};
};

TEST_F(line_output_test, lines_are_written_in_order) {
    std::string wanted;
    {
        line_output out(ends_[1], 1u << 20);
        for (int i = 0; i < 1000; ++i) {
            EXPECT_TRUE(out.put("line " + std::to_string(i), false));
            wanted += "line " + std::to_string(i) + "\n";
        }
        out.drain(10s);
    }
    EXPECT_EQ(read_all(), wanted);
}

// Without a reader, lines that exceed the pipe are buffered, then dropped; put() never blocks.
TEST_F(line_output_test, a_slow_reader_does_not_block_the_writer) {
    const std::string line(1000, 'x');
    std::string got;
    {
        line_output out(ends_[1], 100'000);
        int taken = 0, rejected = 0;
        while (rejected < 1000) (out.put(line, false) ? taken : rejected)++;
        EXPECT_LT(taken, 300) << "limited by the pipe and the buffer";
        EXPECT_TRUE(out.put("important", true)) << "there is space reserved for it";
        EXPECT_EQ(out.take_left_out(), 1000u);
        EXPECT_EQ(out.take_left_out(), 0u);
        std::thread reader([&] {
            char bytes[65536];
            while (got.find("important") == got.npos) {
                const ssize_t n = ::read(ends_[0], bytes, sizeof bytes);
                if (n <= 0) break;
                got.append(bytes, static_cast<std::size_t>(n));
            }
        });
        out.drain(10s);
        reader.join();
    }
    EXPECT_TRUE(got.ends_with("important\n"));
}

TEST_F(line_output_test, important_lines_are_limited_too) {
    const std::string line(1000, 'x');
    int rejected = 0;
    line_output out(ends_[1], 100'000);
    for (int i = 0; i < 1000; ++i) rejected += out.put(line, true) ? 0 : 1;
    EXPECT_GT(rejected, 500);
    // drain() does not wait for a reader that has closed the pipe.
    ::close(std::exchange(ends_[0], -1));
    const auto begun = std::chrono::steady_clock::now();
    out.drain(10s);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
    EXPECT_GE(out.take_left_out(), static_cast<std::uint64_t>(rejected) + 10) << "they are dropped";
}

}  // namespace
}  // namespace callsign::platform
