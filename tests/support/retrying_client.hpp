#pragma once
// A client that follows the API's rules: it retries with the same idempotency key until the
// response is definite, whatever happens to the connection or to the server.
//
// Not thread-safe: one thread per client.

#include "http_client.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

namespace callsign::testing {

class retrying_client {
  public:
    struct counts {
        std::uint64_t requests = 0;
        std::uint64_t answers_lost = 0;  // sent, but no response: unknown outcome
        std::uint64_t replayed = 0;      // the retry found that an earlier attempt had succeeded
        std::uint64_t rejected = 0;      // could not connect: the server was not running
        std::uint64_t told_to_wait = 0;  // 409 request-in-progress, 429, 503

        counts& operator+=(const counts& other) {
            requests += other.requests;
            answers_lost += other.answers_lost;
            replayed += other.replayed;
            rejected += other.rejected;
            told_to_wait += other.told_to_wait;
            return *this;
        }
    };

    retrying_client(std::uint16_t port, std::string token, std::uint64_t seed)
        : http_(port, std::move(token)), random_(seed) {}

    // Creates one task. Returns nullopt if `give_up` returned true before there was a definite
    // response.
    std::optional<http_answer> create(const std::string& key, const std::string& body,
                                      const std::function<bool()>& give_up) {
        while (!give_up()) {
            if (!http_.connected() && !http_.connect()) {
                ++seen_.rejected;
                pause(5, 25);
                continue;
            }
            ++seen_.requests;
            auto answer = try_once(key, body);
            if (!answer) {
                ++seen_.answers_lost;
            } else if (is_definite(*answer)) {
                seen_.replayed += answer->replayed() ? 1 : 0;
                return answer;
            } else {
                ++seen_.told_to_wait;
                pause(20, 100);
            }
        }
        return std::nullopt;
    }

    std::optional<http_answer> try_once(const std::string& key, const std::string& body) {
        return http_.post_json("/v1/tasks", body, key);
    }

    http_client& http() { return http_; }
    const counts& seen() const { return seen_; }

  private:
    static bool is_definite(const http_answer& answer) {
        const bool in_progress =
            answer.status == 409 && answer.body.find("request-in-progress") != std::string::npos;
        return !in_progress && answer.status != 429 && answer.status != 503;
    }

    // With jitter, so that many clients do not retry at the same instant.
    void pause(unsigned least_ms, unsigned most_ms) {
        std::this_thread::sleep_for(
            std::chrono::milliseconds(least_ms + random_() % (most_ms - least_ms)));
    }

    http_client http_;
    std::mt19937_64 random_;
    counts seen_;
};

// Generates a random UUIDv4, as clients use for keys.
inline std::string random_key(std::mt19937_64& random) {
    constexpr char hex[] = "0123456789abcdef";
    std::string text = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
    for (char& c : text)
        if (c == 'x') c = hex[random() % 16];
    return text;
}

}  // namespace callsign::testing
