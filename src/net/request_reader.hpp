#pragma once
// Parses bytes into requests, without I/O: the session passes what it has read, and asks for the
// next step. Keeps what a pipelining client has sent ahead.
//
// Beast parses headers, each passed whole and once: its body parser asserts on some partial chunked
// bodies. Bodies are read here, into their string directly. Together that costs 1.2 times what
// Beast's parser does, 0.2 us a request more (bench/README.md).

#include <callsign/net/http.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign::net {

// Why a request is rejected before any handler sees it.
struct rejection_reason {
    unsigned status = 400;
    std::string_view code{};
    std::string_view detail{};
    std::string_view logged_as{};         // request_facts::rejected
    std::optional<http_response> said{};  // by the code behind the server: the response
};

class request_reader {
  public:
    enum class step : std::uint8_t {
        need_more,      // read into space(), call received(), then advance() again
        ask,            // header complete, body to come: is it admitted? Then advance() again
        want_continue,  // send "100 Continue", then advance() again
        ready,          // take() the request
        rejected,       // see why(); nothing further can be read from this connection
    };

    // `memory` covers the body of the request in progress.
    request_reader(const http_options& options, const http_hooks& hooks, body_lease& memory);

    // Drops the last request, not the bytes after it.
    void begin();
    step advance();

    // Where to read to; never empty after need_more.
    boost::asio::mutable_buffer space();
    void received(std::size_t bytes) noexcept;

    // Requires: the header is done.
    const http_header& header() const { return parser_->get().base(); }
    // Returns the request, once ready. The caller sets its ID.
    http_request take();
    // The result of body_limits_of() for its header.
    const std::shared_ptr<const void>& notes() const noexcept { return limits_.notes; }
    // Drops the body received so far, and releases its memory.
    void drop_body();
    // For a connection that reads no further request. Requires: nothing is unread.
    void drop_buffer() {
        bytes_ = {};
        parser_.reset();
    }

    const rejection_reason& why() const noexcept { return why_; }
    // The value of a field whose line has arrived, even if the header is incomplete or malformed.
    // Empty: none, or not text.
    std::string_view field_so_far(std::string_view name) const;
    // Whether any byte of the request has arrived; whether its whole header has.
    bool begun() const noexcept { return header_done_ || begin_ < end_; }
    bool header_done() const noexcept { return header_done_; }
    bool has_unread() const noexcept { return begin_ < end_; }
    // Bytes of the body that have arrived, without chunk headers and trailer.
    std::size_t body_bytes() const noexcept { return arrived_; }

  private:
    // What comes next in the body.
    enum class part : std::uint8_t { bytes, chunk_header, chunk_end, trailer, nothing };

    step advance_header();
    step advance_body();
    step check_header();
    step check_limits();
    step read_bytes();
    step read_chunk_header();
    step read_chunk_end();
    step read_trailer();
    step await_more();
    std::optional<std::string_view> next_line();
    std::size_t find_header_end();
    bool body_is_here() const noexcept;
    bool make_room();
    step reject(unsigned status, std::string_view code, std::string_view detail) noexcept;
    step reject_body() noexcept;
    step reject_too_large() noexcept;

    const http_options& options_;
    const http_hooks& hooks_;
    body_lease& memory_;
    body_limits limits_;

    // Bytes that have arrived and were not used yet: from begin_ to end_.
    std::vector<char> bytes_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t line_ = 0;     // from begin_ to the first header line without an end
    std::size_t scanned_ = 0;  // from begin_ to the first byte not yet searched for one
    bool bad_line_ = false;

    std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
    bool header_done_ = false;
    bool asks_ = false;          // the body waits for its admission
    bool may_continue_ = false;  // the client waits for 100 Continue

    part next_ = part::nothing;
    bool chunked_ = false;
    std::size_t to_come_ = 0;        // of the body, or of this chunk
    std::size_t trailer_bytes_ = 0;  // received so far
    std::string body_;               // as large as is reserved
    std::size_t arrived_ = 0;        // bytes of body_
    bool into_body_ = false;         // space() was in body_

    rejection_reason why_;
};

}  // namespace callsign::net
