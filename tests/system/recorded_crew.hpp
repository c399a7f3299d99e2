#pragma once
// Clients of one account that create tasks, change their descriptions and read them, at any of
// several servers, and record what they see (support/history.hpp). They retry with their
// idempotency keys until a response is definite.

#include "fixture.hpp"
#include "support/history.hpp"
#include "support/http_client.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace callsign::testing {

class recorded_crew {
  public:
    recorded_crew(std::vector<std::uint16_t> ports, std::string token, std::uint64_t seed)
        : ports_(std::move(ports)), token_(std::move(token)), seed_(seed) {}
    ~recorded_crew() { stop(); }
    recorded_crew(const recorded_crew&) = delete;
    recorded_crew& operator=(const recorded_crew&) = delete;

    void start(int clients) {
        for (int n = 0; n < clients; ++n) threads_.emplace_back([this, n] { work(n); });
    }
    // Lets each client finish its operation, for as long as a server responds.
    void stop() {
        is_over_ = true;
        for (std::thread& t : threads_) t.join();
        threads_.clear();
    }
    // Waits for so many more responses. False: they did not come in time.
    bool await(std::size_t more) { return await_for(more, timeout); }
    bool await_for(std::size_t more, std::chrono::milliseconds limit) {
        std::unique_lock lock(mutex_);
        const std::size_t until = responses_ + more;
        return answered_.wait_for(lock, limit, [&] { return responses_ >= until; });
    }

    // The longest time between two responses. The crew has stopped.
    std::chrono::milliseconds longest_silence() const { return longest_silence_; }

    // Reads all tasks; the crew has stopped.
    void find_tasks(std::uint16_t port) {
        http_client http(port, token_);
        std::string page;
        do {
            const auto answer =
                http.get("/v1/tasks?pageSize=500&fields=key,uuid,description,number" + page);
            ASSERT_TRUE(answer && answer->status == 200) << (answer ? answer->body : "none");
            const auto list = json::parse(answer->body).as_object();
            if (const auto* const tasks = list.if_contains("tasks")) {
                for (const auto& t : tasks->as_array()) {
                    seen.found(t.at("number").as_int64(), text(t, "uuid"), text(t, "description"));
                }
            }
            const auto* const next = list.if_contains("nextPageToken");
            page = next ? "&pageToken=" + std::string(next->as_string()) : "";
        } while (!page.empty());
    }

    history seen;

  private:
    struct client {
        explicit client(std::uint64_t seed) : random(seed) {}
        std::mt19937_64 random;
        std::optional<http_client> http{};
        std::size_t at = 0;
        int operations = 0;
    };

    static std::string text(const json::value& v, const char* name) {
        return std::string(v.at(name).as_string());
    }
    static tick now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

    void work(int number) {
        client c(seed_ + static_cast<std::uint64_t>(number));
        while (!is_over_) {
            const std::string name =
                "c" + std::to_string(number) + "-" + std::to_string(++c.operations);
            const std::int64_t task = any_task(c);
            const auto what = c.random() % 10;
            if (task == 0 || what < 6) {
                create(c, name);
            } else if (what < 8) {
                describe(c, name, task);
            } else {
                read(c, task);
            }
        }
    }

    // Few tasks, so that clients meet.
    std::int64_t any_task(client& c) {
        const std::scoped_lock lock(mutex_);
        if (numbers_.empty()) return 0;
        const std::size_t of_last = std::min<std::size_t>(numbers_.size(), 40);
        return numbers_[numbers_.size() - 1 - c.random() % of_last];
    }
    void answered(std::int64_t created = 0) {
        const std::scoped_lock lock(mutex_);
        ++responses_;
        const auto at = std::chrono::steady_clock::now();
        if (responses_ > 1) {
            longest_silence_ = std::max(longest_silence_,
                                        std::chrono::ceil<std::chrono::milliseconds>(at - last_));
        }
        last_ = at;
        if (created > 0) numbers_.push_back(created);
        answered_.notify_all();
    }

    // One request; another server is next after a failure. None: no definite response.
    std::optional<http_answer> try_once(client& c, std::string_view method,
                                        const std::string& target, const std::string& key,
                                        const std::string& body) {
        if (!c.http) c.http.emplace(ports_[c.at % ports_.size()], token_, 12s);
        http_headers headers{{"Content-Type", "application/json"}};
        if (!key.empty()) headers.emplace_back("Idempotency-Key", "\"" + key + "\"");
        auto answer = c.http->request(method, target, headers, body);
        const bool is_definite = answer && answer->status < 500 && answer->status != 429 &&
                                 answer->body.find("in-progress") == std::string::npos;
        if (is_definite) return answer;
        if (!answer || answer->status >= 500) {
            c.http.reset();
            ++c.at;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5 + c.random() % 40));
        return std::nullopt;
    }

    // Some time after the end no server may respond any more.
    bool gives_up(tick since) const { return is_over_ && now() - since > tick{20'000'000'000}; }

    void create(client& c, const std::string& key) {
        const tick sent = now();
        for (;;) {
            const auto answer = try_once(c, "POST", "/v1/tasks", key, R"({"description":"new"})");
            if (!answer) {
                if (!gives_up(sent)) continue;
                seen.add(creation_seen{.key = key, .receipt = {}, .sent = sent});
                return;
            }
            ASSERT_LT(answer->status, 300u) << answer->body;
            const auto receipt = json::parse(answer->body);
            const std::int64_t number = receipt.at("number").as_int64();
            seen.add(creation_seen{key, answer->body, number, text(receipt, "uuid"), sent, now()});
            return answered(number);
        }
    }

    void describe(client& c, const std::string& value, std::int64_t task) {
        const tick sent = now();
        for (;;) {
            const auto answer = try_once(c, "PATCH", "/v1/tasks/SYN-" + std::to_string(task), value,
                                         R"({"description":")" + value + "\"}");
            if (!answer) {
                if (!gives_up(sent)) continue;
                return seen.add(write_seen{task, value, sent, no_response});
            }
            ASSERT_EQ(answer->status, 200u) << answer->body;
            seen.add(write_seen{task, value, sent, now()});
            return answered();
        }
    }

    void read(client& c, std::int64_t task) {
        const tick sent = now();
        const auto answer = try_once(c, "GET", "/v1/tasks/SYN-" + std::to_string(task), {}, {});
        if (!answer) return;
        const bool exists = answer->status == 200;
        seen.add(read_seen{task, exists ? text(json::parse(answer->body), "description") : "", sent,
                           now()});
        answered();
    }

    std::vector<std::uint16_t> ports_;
    std::string token_;
    std::uint64_t seed_;
    std::vector<std::thread> threads_;
    std::atomic<bool> is_over_ = false;

    std::mutex mutex_;
    std::condition_variable answered_;
    std::size_t responses_ = 0;
    std::chrono::steady_clock::time_point last_{};  // response
    std::chrono::milliseconds longest_silence_{0};
    std::vector<std::int64_t> numbers_;  // of acknowledged tasks
};

}  // namespace callsign::testing
