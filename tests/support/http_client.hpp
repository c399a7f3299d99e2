#pragma once
// A small blocking HTTP/1.1 client for tests: one keep-alive connection, plain sockets, deadlines
// that hold. It also sends raw bytes, as a rude client would. A request whose answer did not arrive
// whole is nullopt: nobody knows what became of it, which is just what the tests need to see.
//
// Not thread safe: one thread per client.

#include <callsign/base/time.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace callsign::testing {

using http_headers = std::vector<std::pair<std::string, std::string>>;

struct http_answer {
    unsigned status = 0;
    http_headers headers;
    std::string body;

    // The first of that name, in any case; empty if there is none.
    std::string header(std::string_view name) const {
        for (const auto& [key, value] : headers)
            if (key.size() == name.size() &&
                ::strncasecmp(key.data(), name.data(), name.size()) == 0)
                return value;
        return {};
    }
    bool replayed() const { return header("Idempotent-Replayed") == "true"; }
};

class http_client {
  public:
    // Connects with the first request, and again whenever the connection was lost.
    explicit http_client(std::uint16_t port, std::string token = {},
                         milliseconds deadline = std::chrono::seconds(30))
        : port_(port), token_(std::move(token)), deadline_(deadline) {}
    ~http_client() { close(); }
    http_client(const http_client&) = delete;
    http_client& operator=(const http_client&) = delete;

    std::optional<http_answer> request(std::string_view method, std::string_view target,
                                       const http_headers& headers = {},
                                       std::string_view body = {}) {
        std::string text = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\n" +
                           "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n";
        if (!token_.empty()) text += "Authorization: Bearer " + token_ + "\r\n";
        for (const auto& [name, value] : headers)
            text.append(name).append(": ").append(value).append("\r\n");
        if (!body.empty() || method == "POST" || method == "PATCH" || method == "PUT")
            text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
        text += "\r\n";
        text += body;
        if (!send(text)) return std::nullopt;
        return receive(method == "HEAD");
    }

    std::optional<http_answer> get(std::string_view target) { return request("GET", target); }

    // The key, if one is given, goes into the header in its quoted form.
    std::optional<http_answer> post_json(std::string_view target, std::string_view body,
                                         const std::string& idempotency_key = {}) {
        http_headers headers;
        headers.emplace_back("Content-Type", "application/json");
        if (!idempotency_key.empty())
            headers.emplace_back("Idempotency-Key", "\"" + idempotency_key + "\"");
        return request("POST", target, headers, body);
    }

    // Raw bytes; connects if need be. False: the server is not there, or closed the connection.
    bool send(std::string_view bytes) {
        if (fd_ < 0 && !connect()) return false;
        const auto until = steady_clock::now() + deadline_;
        while (!bytes.empty()) {
            const ssize_t sent =
                ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
            if (sent < 0 && (errno != EAGAIN || !await(POLLOUT, until))) return lose();
        }
        return true;
    }

    // The next answer; nullopt if it did not arrive whole in time.
    std::optional<http_answer> receive(bool without_body = false) {
        const auto until = steady_clock::now() + deadline_;
        http_answer answer;
        std::size_t head_end;
        while ((head_end = in_.find("\r\n\r\n")) == std::string::npos)
            if (!receive_more(until)) return std::nullopt;
        std::size_t body_bytes = 0;
        if (!read_head(std::string_view(in_).substr(0, head_end + 2), answer, body_bytes)) {
            lose();
            return std::nullopt;
        }
        if (without_body) body_bytes = 0;
        while (in_.size() < head_end + 4 + body_bytes)
            if (!receive_more(until)) return std::nullopt;
        answer.body = in_.substr(head_end + 4, body_bytes);
        in_.erase(0, head_end + 4 + body_bytes);
        if (answer.header("Connection") == "close") close();
        return answer;
    }

    // True if the server closes the connection within the deadline; what it sends before is kept
    // for receive().
    bool closed_by_server() {
        const auto until = steady_clock::now() + deadline_;
        while (fd_ >= 0 && await(POLLIN, until)) read_some();
        return fd_ < 0;
    }

    bool connected() const noexcept { return fd_ >= 0; }

    void close() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
        in_.clear();
    }

    bool connect() {
        close();
        fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in server{};
        server.sin_family = AF_INET;
        server.sin_port = htons(port_);
        server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(fd_, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0)
            return lose();
        const int on = 1;
        ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return true;
    }

  private:
    using steady_clock = std::chrono::steady_clock;

    bool lose() {
        close();
        return false;
    }

    bool await(short event, steady_clock::time_point until) const {
        const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
        pollfd waiting{fd_, event, 0};
        return left > 0 && ::poll(&waiting, 1, static_cast<int>(left)) > 0;
    }

    bool receive_more(steady_clock::time_point until) {
        if (fd_ < 0 || !await(POLLIN, until)) return lose();
        return read_some();
    }

    // What has arrived, without another look at the clock.
    bool read_some() {
        std::array<char, 16'384> buffer;
        const ssize_t bytes = ::recv(fd_, buffer.data(), buffer.size(), 0);
        if (bytes <= 0) {
            // What arrived before stays readable; only the socket goes.
            ::close(std::exchange(fd_, -1));
            return false;
        }
        in_.append(buffer.data(), static_cast<std::size_t>(bytes));
        return true;
    }

    // Status line and fields, each ended by CRLF.
    static bool read_head(std::string_view head, http_answer& out, std::size_t& body_bytes) {
        if (!head.starts_with("HTTP/1.1 ") || head.size() < 12) return false;
        std::from_chars(head.data() + 9, head.data() + 12, out.status);
        auto at = head.find("\r\n") + 2;
        while (at < head.size()) {
            const auto end = head.find("\r\n", at);
            const std::string_view line = head.substr(at, end - at);
            const auto colon = line.find(':');
            if (colon == std::string_view::npos) return false;
            const auto value = std::min(line.find_first_not_of(' ', colon + 1), line.size());
            out.headers.emplace_back(line.substr(0, colon), line.substr(value));
            at = end + 2;
        }
        const std::string length = out.header("Content-Length");
        std::from_chars(length.data(), length.data() + length.size(), body_bytes);
        return out.header("Transfer-Encoding").empty();
    }

    const std::uint16_t port_;
    const std::string token_;
    const milliseconds deadline_;
    int fd_ = -1;
    std::string in_;
};

}  // namespace callsign::testing
