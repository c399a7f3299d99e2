#pragma once
// What the sessions of one server share. All on one executor, so nothing is locked.

#include "response_text.hpp"

#include <callsign/net/http.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace callsign::net {

class session;

struct server_state {
    http_options options;
    http_handler handler;
    http_refusal refusal;
    // Never null. Becomes one that does nothing when the server is gone before its last session.
    http_probe* probe;
    http_hooks hooks{};

    std::vector<session*> sessions{};
    bool stopping = false;
    bool abandoned = false;  // what the handler refers to may be gone
    date_cache date{};
    std::string id_prefix{};  // differs from run to run
    std::uint64_t ids_drawn = 0;
    std::uint64_t connections_seen = 0;
    std::shared_ptr<body_budget> bodies =
        std::make_shared<body_budget>(options.bodies_bytes_max, options.account_bodies_bytes_max);

    // Told when the first session came, and when the last one went.
    std::function<void(bool /*any*/)> sessions_changed{};

    std::string draw_id();
};

}  // namespace callsign::net
