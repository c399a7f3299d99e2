#pragma once
// The server that the load goes to, and what is asked of it beforehand: accounts, series, devices.

#include "options.hpp"
#include "runner.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::bench {

struct target {
    asio::ip::tcp::endpoint endpoint;
    std::string authority;
};

// Of http://ADDRESS:PORT; anything else ends the program.
inline target parse_target(std::string_view url) {
    if (!url.starts_with("http://")) options::fail("--url is http://ADDRESS:PORT");
    std::string_view rest = url.substr(7);
    rest = rest.substr(0, rest.find('/'));
    const auto colon = rest.rfind(':');
    unsigned port = 80;
    if (colon != std::string_view::npos)
        std::from_chars(rest.data() + colon + 1, rest.data() + rest.size(), port);
    std::string host(rest.substr(0, colon));
    if (host == "localhost") host = "127.0.0.1";
    if (host == "[::1]") host = "::1";
    boost::system::error_code error;
    const auto address = asio::ip::make_address(host, error);
    // A load generator pointed at someone else's machine by mistake does harm.
    if (error || !address.is_loopback()) options::fail("--url must name a loopback address");
    return {{address, static_cast<std::uint16_t>(port)}, std::string(rest)};
}

// A POST up to its body, with a token; `extra` is further fields, each with its line end.
inline std::string post_head(const target& to, std::string_view token, std::string_view path,
                             std::string_view extra, std::string_view media_type,
                             std::size_t body_bytes) {
    std::string text = "POST " + std::string(path) + " HTTP/1.1\r\nHost: " + to.authority +
                       "\r\nAuthorization: Bearer " + std::string(token) +
                       "\r\nContent-Type: " + std::string(media_type) +
                       "\r\nAccept: " + std::string(media_type) + "\r\n";
    text += extra;
    return text + "Content-Length: " + std::to_string(body_bytes) + "\r\n\r\n";
}

inline std::string post_json(const target& to, std::string_view token, std::string_view path,
                             std::string_view body) {
    return post_head(to, token, path, "", "application/json", body.size()) + std::string(body);
}

// Requests made beforehand, one for each n, any of some statuses being fine.
class preparations : public workload {
  public:
    preparations(std::vector<std::string> requests, std::vector<unsigned> fine)
        : requests_(std::move(requests)), fine_(std::move(fine)) {}

    job next(std::uint64_t n) override { return {n}; }
    std::string_view request(const job& j) override { return requests_[j.item]; }
    const char* fault_in(const job&, const response& answer) override {
        last_.status = answer.status;
        last_.body = answer.body;
        for (const unsigned status : fine_)
            if (answer.status == status) return nullptr;
        return "unexpected status";
    }

    struct outcome {
        unsigned status = 0;
        std::string body;
    };
    const outcome& last() const { return last_; }

  private:
    std::vector<std::string> requests_;
    std::vector<unsigned> fine_;
    outcome last_;
};

// The last of the answers; a fault ends the program.
inline preparations::outcome prepare(const target& to, std::vector<std::string> requests,
                                     std::vector<unsigned> fine) {
    plan p;
    p.requests = requests.size();
    p.connections = std::min<unsigned>(16, static_cast<unsigned>(requests.size()));
    p.duration = std::chrono::minutes(5);
    p.timeout = std::chrono::seconds(30);
    preparations work(std::move(requests), std::move(fine));
    const tally done = runner(to.endpoint, work, p).run();
    if (!done.ok()) options::fail("preparing failed: " + done.first_fault);
    return work.last();
}

// The text of one member of a flat JSON object, which must be there.
inline std::string member(std::string_view json, std::string_view name) {
    const std::string sign = "\"" + std::string(name) + "\":\"";
    const auto at = json.find(sign);
    if (at == std::string_view::npos) options::fail("no " + std::string(name) + " in the answer");
    const auto begin = at + sign.size();
    return std::string(json.substr(begin, json.find('"', begin) - begin));
}

}  // namespace callsign::bench
