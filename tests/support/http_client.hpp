#pragma once
// A blocking HTTP/1.1 client for tests: net's client with a token and frequent requests. It can
// also send raw bytes, as a misbehaving client would. A response that did not arrive completely is
// nullopt: the outcome is unknown.
//
// Not thread-safe: one thread per client.

#include <callsign/base/time.hpp>
#include <callsign/net/http_client.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <utility>

namespace callsign::testing {

using http_headers = net::http_field_list;

struct http_answer : net::http_answer {
    bool replayed() const { return header("Idempotent-Replayed") == "true"; }
};

class http_client {
  public:
    // Connects with the first request, and again after each lost connection.
    explicit http_client(std::uint16_t port, std::string token = {},
                         milliseconds deadline = std::chrono::seconds(30))
        : token_(std::move(token)),
          deadline_(deadline),
          http_({"127.0.0.1", std::to_string(port), deadline, answer_bytes_max}) {}

    std::optional<http_answer> request(std::string_view method, std::string_view target,
                                       const http_headers& headers = {},
                                       std::string_view body = {}) {
        net::http_call call{std::string(method), std::string(target), headers, std::string(body)};
        if (!token_.empty()) call.headers.emplace_back("Authorization", "Bearer " + token_);
        return answer_of(http_.exchange(std::move(call)));
    }

    std::optional<http_answer> get(std::string_view target) { return request("GET", target); }

    // `idempotency_key`: without quotes; empty: no such header.
    std::optional<http_answer> post_json(std::string_view target, std::string_view body,
                                         const std::string& idempotency_key = {}) {
        http_headers headers{{"Content-Type", "application/json"}};
        if (!idempotency_key.empty())
            headers.emplace_back("Idempotency-Key", "\"" + idempotency_key + "\"");
        return request("POST", target, headers, body);
    }

    // Sends raw bytes; connects if necessary. Returns false if the server is unreachable or has
    // closed the connection.
    bool send(std::string_view bytes) { return !http_.send(std::string(bytes)); }

    // Returns the next response; nullopt if it did not arrive completely in time.
    std::optional<http_answer> receive(bool without_body = false) {
        return answer_of(http_.receive(!without_body));
    }

    // Returns whether the server closes the connection within the deadline. Data received before is
    // kept for receive(). Each check of the time is followed by a read if data is available: no
    // data is lost, and a connection that stays open remains usable.
    bool closed_by_server() {
        const auto until = steady_clock::now() + deadline_;
        while (http_.connected() && await_readable(until)) http_.read_more();
        return !http_.connected();
    }

    bool connected() const noexcept { return http_.connected(); }
    bool connect() { return !http_.connect(); }
    void close() { http_.close(); }

  private:
    using steady_clock = std::chrono::steady_clock;

    // A version can have 100 MiB.
    static constexpr std::size_t answer_bytes_max = 256u << 20;

    static std::optional<http_answer> answer_of(net::http_outcome outcome) {
        if (!outcome) return std::nullopt;
        return http_answer{std::move(*outcome)};
    }

    bool await_readable(steady_clock::time_point until) {
        const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
        pollfd waiting{http_.native_handle(), POLLIN, 0};
        return left > 0 && ::poll(&waiting, 1, static_cast<int>(left)) > 0;
    }

    const std::string token_;
    const milliseconds deadline_;
    net::blocking_http_client http_;
};

}  // namespace callsign::testing
