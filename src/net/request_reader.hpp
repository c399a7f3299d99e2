#pragma once
// From bytes to requests, without I/O: the session feeds it what it read and asks what comes next.
// Keeps what a pipelining client sent ahead.
//
// Beast parses headers, each handed over whole and once: its parser of bodies takes some pieces of
// a chunked one for broken code of its caller's, and asserts. Bodies are read here, into their text
// at once. All in all that costs 1.2 times what Beast's parser does, 0.2 us a request more
// (bench/README.md).

#include <callsign/net/http.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign::net {

// Why a request is refused before any handler sees it.
struct refusal_reason {
    unsigned status = 400;
    std::string_view code{};
    std::string_view detail{};
    std::string_view logged_as{};         // request_facts::refused
    std::optional<http_response> said{};  // by those behind the server: the answer, as it is
};

class request_reader {
  public:
    enum class step : std::uint8_t {
        need_more,      // read into space(), call received(), then advance() again
        ask,            // the header is there and a body will come: may it? Then advance() again
        want_continue,  // say "100 Continue", then advance() again
        ready,          // take() the request
        refused,        // why() says it; nothing further can be read from this connection
    };

    // `memory` covers the body of the request that is being read.
    request_reader(const http_options& options, const http_hooks& hooks, body_lease& memory);

    // Forgets the last request, not the bytes after it.
    void begin();
    step advance();

    // Where to read to; never empty after need_more.
    boost::asio::mutable_buffer space();
    void received(std::size_t bytes) noexcept;

    // Requires: the header is done.
    const http_header& header() const { return parser_->get().base(); }
    // The request, once ready. Its id is the caller's affair.
    http_request take();
    // What was found out about it when its header was complete.
    const std::shared_ptr<const void>& notes() const noexcept { return limits_.notes; }
    // The body as far as it has come, and what covers it, are given back.
    void drop_body();
    // For a connection that reads no further request. Requires: nothing is unread.
    void drop_buffer() {
        bytes_ = {};
        parser_.reset();
    }

    const refusal_reason& why() const noexcept { return why_; }
    // The value of a field whose line has arrived, though the header may not have, or be malformed.
    // Empty: there is none, or it is no text.
    std::string_view field_so_far(std::string_view name) const;
    // Has anything of the request arrived? Has its whole header?
    bool begun() const noexcept { return header_done_ || begin_ < end_; }
    bool header_done() const noexcept { return header_done_; }
    bool has_unread() const noexcept { return begin_ < end_; }
    // Bytes of the body that have arrived and are its own: no chunk's header, no trailer.
    std::size_t body_bytes() const noexcept { return arrived_; }

  private:
    // What comes next after the header.
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
    step refuse(unsigned status, std::string_view code, std::string_view detail) noexcept;
    step refuse_body() noexcept;
    step refuse_too_large() noexcept;

    const http_options& options_;
    const http_hooks& hooks_;
    body_lease& memory_;
    body_limits limits_;

    // What arrived and was not made use of yet: from begin_ to end_.
    std::vector<char> bytes_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t line_ = 0;     // from begin_ to the first header line without an end
    std::size_t scanned_ = 0;  // from begin_ to the first byte not looked at for one
    bool bad_line_ = false;

    std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
    bool header_done_ = false;
    bool asks_ = false;          // whether the body may come
    bool may_continue_ = false;  // the client waits to be told to send the body

    part next_ = part::nothing;
    bool chunked_ = false;
    std::size_t to_come_ = 0;        // of the body, or of this chunk
    std::size_t trailer_bytes_ = 0;  // so far
    std::string body_;               // as large as there is room for now
    std::size_t arrived_ = 0;        // of it
    bool into_body_ = false;         // space() was in it

    refusal_reason why_;
};

}  // namespace callsign::net
