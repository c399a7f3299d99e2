#pragma once
// One connection: read a request, have it answered, write the answer, again. Lives in the frame of
// the coroutine that serves it.

#include "request_reader.hpp"
#include "server_state.hpp"

#include <callsign/net/http.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace callsign::net {

class session {
  public:
    using steady = std::chrono::steady_clock;

    // Registers itself with the server for as long as it lives.
    session(server_state& server, boost::asio::ip::tcp::socket socket);
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    // Until the client or a limit ends it. Throws what the handler's surroundings throw.
    boost::asio::awaitable<void> serve();
    // For a connection too many: says so.
    boost::asio::awaitable<void> turn_away();

    // ---- called by the server, between any two steps of the above ----

    // Ends what waits longer than it may.
    void check_deadline(steady::time_point now);
    // Ends it if no request is under way.
    void close_if_idle();
    void cut_off();

    std::size_t place = 0;  // in server_state::sessions

  private:
    // What is being waited for, each with a limit of its own; none while the handler works.
    enum class phase : std::uint8_t { idle, header, body, handler, write, linger };

    boost::asio::awaitable<bool> read_request();
    boost::asio::awaitable<bool> answer();
    boost::asio::awaitable<bool> write(std::string_view bytes);
    boost::asio::awaitable<void> refuse(refusal_reason why);
    boost::asio::awaitable<void> linger();

    void enter(phase next);
    void enter_reading_phase();
    void compose(const http_response& response, const http_request& request, bool keep_alive,
                 bool with_body = true);
    bool is_large(const http_response& response) const;

    server_state& server_;
    const std::uint64_t connection_;
    boost::asio::ip::tcp::socket socket_;
    // Of the request under way and its answer. Its requests share it.
    const std::shared_ptr<body_lease> memory_;
    request_reader reader_;
    std::size_t body_parts_ = 0;  // how many times body_bytes_max of the body have arrived
    std::string out_;
    phase phase_ = phase::idle;
    steady::time_point deadline_;
    bool expired_ = false;  // the deadline of this phase passed, and the socket was told
};

}  // namespace callsign::net
