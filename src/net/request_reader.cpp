#include "request_reader.hpp"

#include <callsign/base/assert.hpp>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <cstring>
#include <utility>

namespace callsign::net {
namespace {

namespace http = boost::beast::http;

// Most requests fit, and an idle connection costs little more than this.
constexpr std::size_t first_buffer_bytes = 4u << 10;
// Large bodies are read in pieces of this size.
constexpr std::size_t body_buffer_bytes = 64u << 10;
// A chunk's header with its extensions, or the trailer, must fit in as much.
constexpr std::size_t chunk_header_bytes_max = 8u << 10;

constexpr std::size_t not_found = static_cast<std::size_t>(-1);

bool has_absolute_target(std::string_view target) {
    return boost::beast::iequals(target.substr(0, 7), "http://") ||
           boost::beast::iequals(target.substr(0, 8), "https://");
}

}  // namespace

request_reader::request_reader(const http_options& options, const http_hooks& hooks,
                               body_lease& memory)
    : options_(options), hooks_(hooks), memory_(memory), bytes_(first_buffer_bytes) {}

void request_reader::begin() {
    // What a large body needed is not kept for the life of the connection.
    if (!has_unread() && bytes_.size() > first_buffer_bytes) {
        bytes_ = std::vector<char>(first_buffer_bytes);
        begin_ = end_ = 0;
    }
    parser_.emplace();
    error_ = {};
    // Headers are handed over whole, after they were measured here.
    parser_->header_limit(static_cast<std::uint32_t>(options_.header_bytes_max) + 1);
    parser_->body_limit(boost::none);  // set when the header is complete
    parser_->eager(true);
    line_ = scanned_ = 0;
    header_done_ = may_continue_ = false;
}

request_reader::step request_reader::advance() {
    if (!header_done_) {
        const step next = advance_header();
        if (next != step::ready) return next;
    }
    return advance_body();
}

// Beast's own limit is one for each part that arrives, so a header in many small parts would have
// none. Here it is the whole header's; and the parser sees each byte once.
request_reader::step request_reader::advance_header() {
    // RFC 9112, 2.2: empty lines before the request line are ignored.
    while (end_ - begin_ >= 2 && bytes_[begin_] == '\r' && bytes_[begin_ + 1] == '\n') begin_ += 2;
    if (begin_ == end_) return step::need_more;
    const char first = bytes_[begin_];
    if (first == '\r' && end_ - begin_ == 1) return step::need_more;
    if ((first < 'A' || first > 'Z') && (first < 'a' || first > 'z')) {
        return refuse(400, "malformed-request", "This is not HTTP/1.1.");
    }
    const std::size_t header = find_header_end();
    if (error_) return refuse(400, "malformed-request", "A line of the header ends wrongly.");
    const std::size_t known = header == not_found ? end_ - begin_ : header;
    if (known > options_.header_bytes_max) {
        return refuse(431, "header-too-large", "The request's header is too large.");
    }
    if (header == not_found) return step::need_more;
    if (!parse(header) || !parser_->is_header_done()) {
        return refuse(400, "malformed-request", "The request's header is malformed.");
    }
    header_done_ = true;
    return check_header();
}

// The length of the header with its last empty line. A line that ends in a bare newline sets
// error_: waiting for more would not mend it.
std::size_t request_reader::find_header_end() {
    const char* start = bytes_.data() + begin_;
    const std::size_t size = end_ - begin_;
    while (const void* at = std::memchr(start + scanned_, '\n', size - scanned_)) {
        const auto newline = static_cast<std::size_t>(static_cast<const char*>(at) - start);
        if (newline == line_ || start[newline - 1] != '\r') {
            error_ = http::error::bad_line_ending;
            return not_found;
        }
        const bool is_empty_line = newline - line_ == 1;
        line_ = scanned_ = newline + 1;
        if (is_empty_line) return line_;
    }
    scanned_ = size;
    return not_found;
}

// What Beast lets pass, and RFC 9112 does not.
request_reader::step request_reader::check_header() {
    const auto& request = parser_->get();
    const bool is_1_1 = request.version() == 11;
    const std::size_t hosts = request.count(http::field::host);
    if (hosts > 1 || (is_1_1 && hosts == 0)) {
        return refuse(400, "malformed-request", "The request must have one Host.");
    }
    // A coding we do not know hides where the request ends, and so where the next one begins.
    if (request.count(http::field::transfer_encoding) > 0 && (!parser_->chunked() || !is_1_1)) {
        return refuse(400, "malformed-request", "The transfer coding must be chunked.");
    }
    if (const auto expect = request.find(http::field::expect); is_1_1 && expect != request.end()) {
        if (!boost::beast::iequals(expect->value(), "100-continue")) {
            return refuse(417, "expectation-failed", "Only 100-continue can be expected.");
        }
        may_continue_ = true;
    }
    return check_terms();
}

// How large may the body be, and is there memory for it?
request_reader::step request_reader::check_terms() {
    terms_ = hooks_.terms_of ? hooks_.terms_of(parser_->get().base())
                             : body_terms{.bytes_max = options_.body_bytes_max};
    const auto announced = parser_->content_length();
    if (announced && *announced > terms_.bytes_max) return refuse_too_large();
    memory_.give_back();
    memory_.pays(terms_.payer);
    if (announced && !cover(static_cast<std::size_t>(*announced))) return refuse_uncovered();
    parser_->body_limit(terms_.bytes_max);
    return step::ready;
}

request_reader::step request_reader::refuse_too_large() {
    refuse(413, "body-too-large", "The request's body is too large.");
    why_.said = std::move(terms_.too_large);
    return step::refused;
}

request_reader::step request_reader::refuse_uncovered() {
    return refuse(503, "overloaded", "Too many bodies are under way. Ask again in a moment.");
}

request_reader::step request_reader::advance_body() {
    while (!parser_->is_done()) {
        if (begin_ == end_) {
            return std::exchange(may_continue_, false) ? step::want_continue : step::need_more;
        }
        may_continue_ = false;
        // A body whose size was not announced: its text doubles its memory as it grows.
        if (!cover(std::max(parser_->get().body().capacity(),
                            parser_->get().body().size() + (end_ - begin_)))) {
            return refuse_uncovered();
        }
        if (parse(end_ - begin_)) continue;
        if (error_ == http::error::body_limit) return refuse_too_large();
        if (error_ != http::error::need_more || end_ - begin_ > chunk_header_bytes_max) {
            return refuse(400, "malformed-request", "The request's body is malformed.");
        }
        return step::need_more;
    }
    return step::ready;
}

// Hands the next bytes to the parser, which takes some of them.
bool request_reader::parse(std::size_t bytes) {
    begin_ += parser_->put(boost::asio::buffer(bytes_.data() + begin_, bytes), error_);
    if (begin_ == end_) begin_ = end_ = 0;
    return !error_;
}

bool request_reader::cover(std::size_t bytes) {
    return bytes <= memory_.bytes() || memory_.resize(bytes);
}

boost::asio::mutable_buffer request_reader::space() {
    if (begin_ > 0) {
        std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (header_done_ && parser_->content_length_remaining().value_or(0) > bytes_.size()) {
        bytes_.resize(std::max(bytes_.size(), body_buffer_bytes));
    }
    if (end_ == bytes_.size()) bytes_.resize(bytes_.size() * 2);
    return boost::asio::buffer(bytes_.data() + end_, bytes_.size() - end_);
}

http_request request_reader::take() {
    CALLSIGN_ASSERT(parser_->is_done());
    http_request out;
    static_cast<http::request<http::string_body>&>(out) = parser_->release();
    // RFC 9112, 3.2.2: a server takes the absolute form too. Handlers know paths alone.
    const std::string_view target(out.target().data(), out.target().size());
    if (has_absolute_target(target)) {
        const std::size_t path = target.find('/', target.find("//") + 2);
        const std::string origin =
            path == std::string_view::npos ? "/" : std::string(target.substr(path));
        out.target(origin);
    }
    return out;
}

request_reader::step request_reader::refuse(unsigned status, std::string_view code,
                                            std::string_view detail) noexcept {
    why_ = {status, code, detail, std::nullopt};
    return step::refused;
}

}  // namespace callsign::net
