#pragma once
// From bytes to requests, without I/O: the session feeds it what it read and asks what comes next.
// Keeps what a pipelining client sent ahead.

#include <callsign/net/http.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign::net {

// Why a request is refused before any handler sees it.
struct refusal_reason {
    unsigned status = 400;
    std::string_view code;
    std::string_view detail;
    std::optional<http_response> said{};  // by the request's own terms: the answer, as it is
};

class request_reader {
  public:
    enum class step : std::uint8_t {
        need_more,      // read into space(), call received(), then advance() again
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
    void received(std::size_t bytes) noexcept { end_ += bytes; }

    // The request, once ready. Its id is the caller's affair.
    http_request take();

    const refusal_reason& why() const noexcept { return why_; }
    // Has anything of the request arrived? Has its whole header?
    bool begun() const noexcept { return header_done_ || begin_ < end_; }
    bool header_done() const noexcept { return header_done_; }
    bool has_unread() const noexcept { return begin_ < end_; }
    // Bytes of the body that have arrived.
    std::size_t body_bytes() const { return header_done_ ? parser_->get().body().size() : 0; }

  private:
    using parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

    step advance_header();
    step advance_body();
    step check_header();
    step check_terms();
    step refuse_too_large();
    step refuse_uncovered();
    std::size_t find_header_end();
    bool parse(std::size_t bytes);
    bool cover(std::size_t bytes);
    step refuse(unsigned status, std::string_view code, std::string_view detail) noexcept;

    const http_options& options_;
    const http_hooks& hooks_;
    body_lease& memory_;
    body_terms terms_;
    std::vector<char> bytes_;
    std::size_t begin_ = 0;  // what is not parsed yet
    std::size_t end_ = 0;
    std::size_t line_ = 0;     // from begin_ to the first header line without an end
    std::size_t scanned_ = 0;  // from begin_ to the first byte not looked at for one
    std::optional<parser> parser_;
    bool header_done_ = false;
    bool may_continue_ = false;  // the client waits to be told to send the body
    boost::beast::error_code error_;
    refusal_reason why_;
};

}  // namespace callsign::net
