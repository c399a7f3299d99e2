#pragma once
// The state that one server's sessions share. All run on one executor, so there are no locks.

#include "response_text.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/net/http.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace callsign::net {

class session;

struct server_state {
    http_options options;
    http_handler handler;
    http_rejection rejection;
    // Never null. Replaced by one that does nothing if the server is destroyed before its last
    // session.
    http_probe* probe;
    http_hooks hooks{};

    // Tests have a clock of their own.
    std::function<std::chrono::steady_clock::time_point()> now = &std::chrono::steady_clock::now;

    std::vector<session*> sessions{};
    // By address: its connections, and the requests that trusted proxies forward for it.
    std::unordered_map<address_bytes, std::size_t, keyed_hash> by_address{};
    std::size_t turned_away = 0;  // sessions beyond a limit
    bool stopping = false;
    bool abandoned = false;  // what the handler refers to may be destroyed
    date_cache date{};
    std::string id_prefix{};  // differs from run to run
    std::uint64_t ids_drawn = 0;
    std::shared_ptr<body_budget> bodies =
        std::make_shared<body_budget>(options.bodies_bytes_max, options.account_bodies_bytes_max);

    // Called when the first session begins, and when the last one ends.
    std::function<void(bool /*any*/)> sessions_changed{};

    // The Strict-Transport-Security field; empty: not sent.
    std::string strict_transport = strict_transport_of(options);

    static std::string strict_transport_of(const http_options& options);
    std::string draw_id();
    bool trusts(const address_bytes& peer) const;
    std::size_t count_of(const address_bytes& address) const;
    // The session to evict, by http_options::connections_max; one of this address, if one is given.
    // nullptr: all are in use.
    session* least_needed(const std::optional<address_bytes>& of) const;
};

// One request's or connection's count in by_address.
class address_share {
  public:
    explicit address_share(server_state& server) : server_(server) {}
    address_share(const address_share&) = delete;
    address_share& operator=(const address_share&) = delete;
    ~address_share() { give_back(); }

    void take(const address_bytes& address) {
        give_back();
        address_ = address;
        ++server_.by_address[address];
    }
    void give_back() {
        if (!address_) return;
        const auto found = server_.by_address.find(*address_);
        if (--found->second == 0) server_.by_address.erase(found);
        address_.reset();
    }
    const std::optional<address_bytes>& address() const noexcept { return address_; }

  private:
    server_state& server_;
    std::optional<address_bytes> address_;
};

}  // namespace callsign::net
