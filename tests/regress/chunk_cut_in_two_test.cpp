// Two TCP segments ended the process: an assertion of Beast's parser (1.81) fails if the last chunk
// of a body is split within its line ends. Since then Beast parses complete headers only.

#include "net/request_reader.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace callsign::net {
namespace {

TEST(regress, chunk_cut_in_two) {
    const std::string put = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const std::vector<std::string>& pieces :
         {std::vector<std::string>{put + "0\r\n", "\r", "\n"},
          std::vector<std::string>{put, "0", "\r", "\n", "\r", "\n"},
          std::vector<std::string>{put + "0\r\nA: b", "\r", "\n\r", "\n"}}) {
        const http_options options;
        const http_hooks hooks;
        body_lease memory;
        request_reader reader(options, hooks, memory);
        reader.begin();
        // Permits the body.
        const auto advance = [&] {
            auto next = reader.advance();
            while (next == request_reader::step::ask) next = reader.advance();
            return next;
        };
        for (const std::string& piece : pieces) {
            ASSERT_EQ(advance(), request_reader::step::need_more);
            std::memcpy(reader.space().data(), piece.data(), piece.size());
            reader.received(piece.size());
        }
        ASSERT_EQ(advance(), request_reader::step::ready);
        EXPECT_EQ(reader.take().body(), "");
    }
}

}  // namespace
}  // namespace callsign::net
