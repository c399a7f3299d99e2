#pragma once
// One connection: read a request, have it answered, write the answer, again. Lives in the frame of
// the coroutine that serves it.

#include "connection.hpp"
#include "pace.hpp"
#include "request_reader.hpp"
#include "server_state.hpp"

#include <callsign/net/http.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace callsign::net {

class session {
  public:
    using steady = std::chrono::steady_clock;

    // Registers itself with the server for as long as it lives. `from`: the other end; `peer`:
    // whose connection it counts as; none: a trusted proxy's.
    session(server_state& server, boost::asio::ip::tcp::socket socket, const address_bytes& from,
            const std::optional<address_bytes>& peer);
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
    // The server stops: ends it if no request is under way, and lets it wait for its client no more
    // than a little.
    void prepare_to_stop();
    // Ends it as soon as the request that may just have come is answered.
    void displace();
    void cut_off();

    // What may be closed for another: nothing is lost with an idle one, a client's patience with
    // one that is on its way or waits. At work: neither.
    enum class need : std::uint8_t { idle, on_its_way, at_work };
    need needed() const noexcept;
    steady::time_point waits_since() const noexcept { return since_; }
    // On whose account its request is; strangers' until that is known.
    payer paid_by() const noexcept { return memory_->paid_by(); }
    const std::optional<address_bytes>& peer() const noexcept { return peer_.address(); }

    std::size_t place = 0;  // in server_state::sessions

  private:
    // What is being waited for, each with a limit of its own; none while the handler works.
    // Nor between two writes of a streamed body.
    enum class phase : std::uint8_t {
        handshake,
        idle,
        header,
        body,
        handler,
        write,
        stream,
        linger
    };
    class streamed_body;
    class beast_socket;

    boost::asio::awaitable<bool> shake_hands();
    boost::asio::awaitable<bool> read_request();
    boost::asio::awaitable<bool> read_more();
    boost::asio::awaitable<bool> may_come();
    boost::asio::awaitable<bool> answer();
    boost::asio::awaitable<bool> write(std::string_view head, std::string_view body = {});
    bool has_room_for(std::size_t bytes);
    boost::asio::awaitable<bool> stream(const body_writer& writer, bool chunked);
    boost::asio::awaitable<bool> talk(http_header header, const http_response& response,
                                      const response_frame& frame);
    boost::asio::awaitable<void> refuse(refusal_reason why);
    boost::asio::awaitable<void> refuse_when_asked(refusal_reason why);
    boost::asio::awaitable<void> linger();

    void enter(phase next);
    milliseconds patience(milliseconds usual) const noexcept;
    // For what is written in one piece, however slowly: what its bytes may take is known before.
    void enter_write(std::size_t bytes);
    void enter_reading_phase();
    bool count_client(const http_header& header);
    http_response refusal_of(const refusal_reason& why);
    void refuse_instead(http_response& response, const refusal_reason& why);
    void finished(const http_request& request, unsigned status, const http_response& response,
                  bool sent);
    void complete(const http_request& request, http_response& response);
    response_frame frame_of(const http_request& request, bool keep_alive);
    void compose(const http_response& response, const http_request& request, bool keep_alive);

    server_state& server_;
    connection connection_;
    const address_bytes from_;
    address_bytes client_address_;  // of the request under way
    address_share peer_;
    address_share client_;  // the same, behind a proxy, as it counts
    // Of the request under way and its answer. Its requests share it.
    const std::shared_ptr<body_lease> memory_;
    request_reader reader_;
    steady::time_point begun_;   // its header was there
    std::size_t bytes_in_ = 0;   // of its body
    std::size_t bytes_out_ = 0;  // of its answer's body
    std::string id_;             // of the request under way; empty: none was drawn yet
    std::string out_;            // an answer's head
    phase phase_ = phase::idle;
    steady::time_point since_;  // it is in this phase
    pace pace_;
    std::size_t body_bytes_ = 0;  // that had come when they were last looked at
    bool expired_ = false;        // the deadline of this phase passed, and the socket was told
    bool timed_out_ = false;      // which is told once
    bool cut_short_ = false;      // an answer was not written to its end
    bool displaced_ = false;      // this is its last request
    bool turned_away_ = false;
    std::string followed_target_;  // of the last request, if another follows its answer
    // Of what waits or is streamed; shared with the request, and with what waits for the client to
    // go. Once it is over, so is the connection.
    const std::shared_ptr<early_end> end_ = std::make_shared<early_end>();
};

}  // namespace callsign::net
