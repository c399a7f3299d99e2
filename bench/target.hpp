#pragma once
// The server under load, and its preparation: accounts, series, devices.

#include "options.hpp"
#include "runner.hpp"

#include <callsign/net/http_client.hpp>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <charconv>
#include <future>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::bench {

struct target {
    asio::ip::tcp::endpoint endpoint;
    std::string authority;
};

// Parses http://ADDRESS:PORT; anything else ends the program.
inline target parse_target(std::string_view url) {
    if (!url.starts_with("http://")) options::fail("--url must be http://ADDRESS:PORT");
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
    // Prevents accidental load on another host.
    if (error || !address.is_loopback()) options::fail("--url must name a loopback address");
    return {{address, static_cast<std::uint16_t>(port)}, std::string(rest)};
}

// Returns a POST request up to its body, with a token; `extra`: further headers, each with its line
// end.
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

inline net::http_call post_json(std::string_view token, std::string path, std::string body) {
    return {
        "POST",
        std::move(path),
        {{"Authorization", "Bearer " + std::string(token)}, {"Content-Type", "application/json"}},
        std::move(body)};
}

// Requests of the preparation, and their progress.
struct preparations {
    std::vector<net::http_call> calls;
    std::vector<unsigned> fine;  // expected statuses
    std::size_t next = 0;
    net::http_answer last{};  // of the last call
};

// Sends the remaining requests, one after the other. The caller owns `all` and waits.
inline asio::awaitable<void> ask_in_turn(net::http_client client, preparations& all) {
    while (all.next < all.calls.size()) {
        const bool is_last = all.next + 1 == all.calls.size();
        net::http_call call = all.calls[all.next++];
        net::http_outcome outcome = co_await client.exchange(std::move(call));
        if (!outcome) options::fail("preparation failed: " + outcome.error().error.message());
        if (std::find(all.fine.begin(), all.fine.end(), outcome->status) == all.fine.end()) {
            options::fail("preparation failed: unexpected status: " +
                          std::to_string(outcome->status) + " " + outcome->body);
        }
        if (is_last) all.last = std::move(*outcome);
    }
}

// Uses a few connections. Any other status ends the program. Returns the last response.
inline net::http_answer prepare(const target& to, std::vector<net::http_call> calls,
                                std::vector<unsigned> fine) {
    constexpr std::size_t connections_max = 16;
    const net::http_client_options server{to.endpoint.address().to_string(),
                                          std::to_string(to.endpoint.port())};
    preparations all{std::move(calls), std::move(fine)};
    asio::io_context io(1);
    std::vector<std::future<void>> done;
    while (done.size() < std::min(connections_max, all.calls.size())) {
        net::http_client client(io.get_executor(), server);
        done.push_back(asio::co_spawn(io, ask_in_turn(std::move(client), all), asio::use_future));
    }
    io.run();
    for (auto& each : done) each.get();
    return std::move(all.last);
}

// Returns the text of a member of a flat JSON object, which must exist.
inline std::string member(std::string_view json, std::string_view name) {
    const std::string sign = "\"" + std::string(name) + "\":\"";
    const auto at = json.find(sign);
    if (at == std::string_view::npos) options::fail("no " + std::string(name) + " in the response");
    const auto begin = at + sign.size();
    return std::string(json.substr(begin, json.find('"', begin) - begin));
}

}  // namespace callsign::bench
