#pragma once
// One connection: reads a request, calls the handler, writes the response, and repeats. Lives in
// the frame of the coroutine that serves it.

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

    // Registers with the server for its lifetime. `from`: the peer's address; `peer`: the address
    // that the connection counts for; none: a trusted proxy's connection.
    session(server_state& server, boost::asio::ip::tcp::socket socket, const address_bytes& from,
            const std::optional<address_bytes>& peer);
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    // Runs until the client or a limit ends it. Exceptions of hooks pass through.
    boost::asio::awaitable<void> serve();
    // For a connection beyond the limit: responds with 503.
    boost::asio::awaitable<void> turn_away();

    // ---- called by the server, between any two steps of the above ----

    // Ends a wait that has exceeded its deadline.
    void check_deadline(steady::time_point now);
    // The server stops: ends the session if no request is in progress, and shortens the timeouts of
    // its client.
    void prepare_to_stop();
    // Evicts the session: ends it once the request that may just have arrived is responded to.
    void displace();
    void cut_off();

    // Whether the session may be evicted: if idle, at no loss; if it waits or receives a header, at
    // the cost of a delay for its client; at work, not.
    enum class need : std::uint8_t { idle, on_its_way, at_work };
    need needed() const noexcept;
    steady::time_point waits_since() const noexcept { return since_; }
    // The payer of its request; anonymous until it is known.
    payer paid_by() const noexcept { return memory_->paid_by(); }
    const std::optional<address_bytes>& peer() const noexcept { return peer_.address(); }

    std::size_t place = 0;  // in server_state::sessions

  private:
    // What the session waits for, each with a timeout of its own; none while the handler runs, nor
    // between two writes of a streamed body.
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
    boost::asio::awaitable<void> reject(rejection_reason why);
    boost::asio::awaitable<void> reject_when_asked(rejection_reason why);
    boost::asio::awaitable<void> linger();

    void enter(phase next);
    milliseconds timeout(milliseconds usual) const noexcept;
    // For what is written in one piece, however slowly: its timeout includes the time of its bytes.
    void enter_write(std::size_t bytes);
    void enter_reading_phase();
    bool count_client(const http_header& header);
    http_response rejection_of(const rejection_reason& why);
    void reject_instead(http_response& response, const rejection_reason& why);
    void finished(const http_request& request, unsigned status, const http_response& response,
                  bool sent);
    void complete(const http_request& request, http_response& response);
    response_frame frame_of(const http_request& request, bool keep_alive);
    void compose(const http_response& response, const http_request& request, bool keep_alive);

    server_state& server_;
    connection connection_;
    const address_bytes from_;
    address_bytes client_address_;  // of the request in progress
    address_share peer_;
    address_share client_;  // behind a proxy: the same address, as it counts
    // Of the request in progress and its response; shared with the request.
    const std::shared_ptr<body_lease> memory_;
    request_reader reader_;
    steady::time_point begun_;   // when its header was complete
    std::size_t bytes_in_ = 0;   // of its body
    std::size_t bytes_out_ = 0;  // of its response's body
    std::string id_;             // of the request in progress; empty: not generated yet
    std::string out_;            // a response's head
    phase phase_ = phase::idle;
    steady::time_point since_;  // when this phase began
    pace pace_;
    std::size_t body_bytes_ = 0;  // that had arrived when last checked
    bool expired_ = false;    // the timeout of this phase has passed, and the socket was cancelled
    bool timed_out_ = false;  // reported once
    bool cut_short_ = false;  // a response was not written to its end
    bool evicted_ = false;    // evicted: this is its last request
    bool turned_away_ = false;
    std::string followed_target_;  // of the last request, if its response is followed by another
    // Of a request that waits or is streamed: shared with the request, and with the wait for the
    // client's disconnection. Once it is over, so is the connection.
    const std::shared_ptr<early_end> end_ = std::make_shared<early_end>();
};

}  // namespace callsign::net
