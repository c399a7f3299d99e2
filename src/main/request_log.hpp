#pragma once
// The server's log lines about requests: one for each finished request, and another, under a name
// that does not change, for each rejection that an operator or a program may act on. Names and
// fields are a contract (docs/operations.md).
//
// External text is limited: names are short by their rules, routes are templates, methods are those
// of HTTP. A line has no other text that a client sent.

#include <callsign/net/address.hpp>
#include <callsign/net/http.hpp>
#include <callsign/platform/log.hpp>

#include <algorithm>
#include <array>
#include <boost/beast/http/verb.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace callsign {

// The current logger; a reload replaces it. Network thread.
using current_logger = std::unique_ptr<platform::logger>;

// Limits the lines of a second and counts the dropped ones. Besides, allows a first line for each
// of a number of clients, so that one client's lines do not suppress another's.
class line_budget {
  public:
    using clock = std::chrono::steady_clock;

    explicit line_budget(int per_second_max) : left_(per_second_max), per_second_max_(left_) {}

    // Returns how many lines were dropped in the second before, when a new one begins.
    std::int64_t begin_second(clock::time_point now) {
        if (now - began_ < std::chrono::seconds{1}) return 0;
        began_ = now;
        left_ = per_second_max_;
        clients_.clear();
        return std::exchange(left_out_, 0);
    }
    bool take() {
        if (left_ > 0) return --left_, true;
        ++left_out_;
        return false;
    }

    bool take(const net::address_bytes& client) {
        const bool is_first =
            clients_.size() < clients_max && clients_.insert(net::counted_as(client)).second;
        return is_first || take();
    }

  private:
    static constexpr std::size_t clients_max = 64;

    clock::time_point began_{};
    std::set<net::address_bytes> clients_;  // with a line in this second
    int left_;
    const int per_second_max_;
    std::int64_t left_out_ = 0;
};

class request_log final : public net::http_probe {
  public:
    using now_source = std::function<line_budget::clock::time_point()>;

    // `options`: as they are whenever a request is finished.
    request_log(current_logger& log, net::http_probe& next, const platform::log_options& options,
                now_source now = &line_budget::clock::now)
        : log_(log), next_(next), options_(options), now_(std::move(now)) {}

    void connection_opened() override { next_.connection_opened(); }
    void connection_closed() override { next_.connection_closed(); }
    void connection_rejected() override { next_.connection_rejected(); }
    void connection_evicted() override { next_.connection_evicted(); }
    void connection_timed_out() override { next_.connection_timed_out(); }
    void request_answered(const net::http_request& request, const net::http_response& response,
                          std::chrono::nanoseconds took) override {
        next_.request_answered(request, response, took);
    }

    void request_finished(const net::finished_request& f) override {
        next_.request_finished(f);
        if (!f.facts.rejected.empty()) tell_rejection(f);
        // Errors of remote servers are logged once, when they begin (remote_log).
        const bool is_asked_all_the_time =
            f.facts.route == "/livez" || f.facts.route == "/readyz" || f.facts.route == "/metrics";
        const bool failed = f.status >= 500 && !f.is_upstream_error;
        if (is_asked_all_the_time) {
            tell(platform::log_level::debug, f);
        } else if (failed) {
            // An overload causes thousands of 503 responses a second; as many lines would worsen
            // it.
            if (may_log(failures_)) tell(platform::log_level::error, f);
        } else if (options_.requests != "off") {
            // Nor can anonymous clients fill the disk, with accepted or rejected requests.
            const bool of_stranger = f.facts.account.empty() && f.facts.caller.empty();
            if (of_stranger && !may_log(f.status >= 400 ? strangers_rejected_ : strangers_)) return;
            tell(options_.requests == "info" ? platform::log_level::info
                                             : platform::log_level::debug,
                 f);
        }
    }

    void session_failed(std::string_view error) override {
        next_.session_failed(error);
        log_->log(platform::log_level::error, "session failed", {{"error", std::string(error)}});
    }

  private:
    static constexpr std::size_t name_bytes_max = 64;
    // Stands for an empty text. No name begins with it.
    static constexpr std::string_view nothing = "-";

    static std::string text_or_nothing(std::string_view text) {
        return std::string(text.empty() ? nothing : text.substr(0, name_bytes_max));
    }
    static std::string method_of(const net::http_request& request) {
        if (request.method() == boost::beast::http::verb::unknown) return "other";
        const auto text = boost::beast::http::to_string(request.method());
        return {text.data(), text.size()};
    }
    static std::string in_ms(std::chrono::nanoseconds span) {
        const auto us = std::chrono::round<std::chrono::microseconds>(span).count();
        const std::string rest = std::to_string(us % 1000);
        return std::to_string(us / 1000) + "." + std::string(3 - rest.size(), '0') + rest;
    }

    void tell(platform::log_level level, const net::finished_request& f) {
        if (!log_->enabled(level)) return;
        log_->log(level, "request",
                  {{"client", net::to_string(f.request.client_address)},
                   {"method", method_of(f.request)},
                   {"route", std::string(f.facts.route)},
                   {"status", std::to_string(f.status)},
                   {"ms", in_ms(f.took)},
                   {"in", std::to_string(f.bytes_in)},
                   {"out", std::to_string(f.bytes_out)},
                   {"account", text_or_nothing(f.facts.account)},
                   {"by", text_or_nothing(f.facts.caller)},
                   {"reason", text_or_nothing(f.facts.reason)},
                   {"sent", f.sent ? "yes" : "no"},
                   {"request", f.request.id}});
    }

    // `client` comes first, before any text that a client chose: log filters rely on that.
    void tell_rejection(const net::finished_request& f) {
        if (!log_->enabled(platform::log_level::warn)) return;
        line_budget& budget = budget_of(f.facts.rejected);
        begin_second(budget);
        if (!budget.take(f.request.client_address)) return;
        log_->log(platform::log_level::warn, f.facts.rejected,
                  {{"client", net::to_string(f.request.client_address)},
                   {"reason", text_or_nothing(f.facts.reason)},
                   {"route", std::string(f.facts.route)},
                   {"account", text_or_nothing(f.facts.account)},
                   {"by", text_or_nothing(f.facts.caller)},
                   {"request", f.request.id}});
    }

    struct named_budget {
        std::string_view event;
        line_budget lines;
    };

    line_budget& budget_of(std::string_view event) {
        const auto found = std::find_if(rejections_.begin(), rejections_.end(),
                                        [&](const named_budget& b) { return b.event == event; });
        return found == rejections_.end() ? other_rejections_ : found->lines;
    }

    bool may_log(line_budget& budget) {
        begin_second(budget);
        return budget.take();
    }
    void begin_second(line_budget& budget) {
        if (const auto left_out = budget.begin_second(now_())) {
            log_->log(platform::log_level::warn, "request-lines-dropped",
                      {{"count", std::to_string(left_out)}});
        }
    }

    static constexpr int failures_per_second_max = 20;
    static constexpr int rejections_per_second_max = 20;
    static constexpr int strangers_per_second_max = 50;

    current_logger& log_;
    net::http_probe& next_;
    const platform::log_options& options_;
    now_source now_;
    line_budget failures_{failures_per_second_max};
    line_budget strangers_{strangers_per_second_max};
    line_budget strangers_rejected_{strangers_per_second_max};
    // One each, so that a flood of one kind does not suppress the others.
    std::array<named_budget, 3> rejections_{
        named_budget{"auth-failed", line_budget{rejections_per_second_max}},
        named_budget{"sync-rejected", line_budget{rejections_per_second_max}},
        named_budget{"rate-limited", line_budget{rejections_per_second_max}}};
    line_budget other_rejections_{rejections_per_second_max};
};

}  // namespace callsign
