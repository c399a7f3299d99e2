#pragma once
// What the sessions of one server share. All on one executor, so nothing is locked.

#include "response_text.hpp"

#include <callsign/net/http.hpp>

#include <cstdint>
#include <functional>
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
    std::size_t large_bytes = 0;  // of options.large_bodies_bytes_max

    // Told when the first session came, and when the last one went.
    std::function<void(bool /*any*/)> sessions_changed{};

    std::string draw_id();
};

// One session's part of large_bodies_bytes_max.
class large_body_share {
  public:
    explicit large_body_share(server_state& server) : server_(server) {}
    large_body_share(const large_body_share&) = delete;
    large_body_share& operator=(const large_body_share&) = delete;
    ~large_body_share() { give_back(); }

    // Makes the share large enough for a body of `bytes`; a body that is not large needs none.
    // False: the others hold too much.
    bool cover(std::size_t bytes) {
        if (bytes <= server_.options.body_bytes_max || bytes <= held_) return true;
        const std::size_t others = server_.large_bytes - held_;
        // Alone, any one that its terms allow has its turn.
        if (others != 0 && others + bytes > server_.options.large_bodies_bytes_max) return false;
        server_.large_bytes = others + bytes;
        held_ = bytes;
        return true;
    }
    void give_back() {
        server_.large_bytes -= held_;
        held_ = 0;
    }

  private:
    server_state& server_;
    std::size_t held_ = 0;
};

}  // namespace callsign::net
