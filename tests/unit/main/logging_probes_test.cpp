#include "main/logging_probes.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace callsign {
namespace {

using platform::log_level;

struct kept_lines final : platform::logger {
    explicit kept_lines(std::vector<std::pair<log_level, std::string>>& all) : lines(all) {}
    void log(log_level level, std::string_view event,
             std::initializer_list<platform::log_field>) override {
        lines.emplace_back(level, event);
    }
    bool enabled(log_level) const noexcept override { return true; }

    std::vector<std::pair<log_level, std::string>>& lines;
};

struct request_lines : ::testing::Test {
    using logged = std::pair<log_level, std::string>;

    logged line_of(unsigned status, bool is_fault_of_another = false) {
        net::http_response response;
        response.status = status;
        response.is_fault_of_another = is_fault_of_another;
        lines.clear();
        requests.request_answered({}, response, {});
        return lines.size() == 1 ? lines[0] : logged{};
    }

    std::vector<logged> lines;
    current_logger log = std::make_unique<kept_lines>(lines);
    net::http_probe none;
    request_log requests{log, none};
};

// One that is down for an hour would fill the log otherwise.
TEST_F(request_lines, another_servers_faults_are_no_failures_of_this_one) {
    EXPECT_EQ(line_of(201), logged(log_level::debug, "request"));
    EXPECT_EQ(line_of(503), logged(log_level::error, "request failed"));
    EXPECT_EQ(line_of(503, true), logged(log_level::debug, "request"));
}

}  // namespace
}  // namespace callsign
