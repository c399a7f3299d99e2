#include "request_reader.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/base/hex.hpp>
#include <callsign/base/text.hpp>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <cstring>
#include <iterator>
#include <utility>

namespace callsign::net {
namespace {

// Most requests fit, and an idle connection costs little more than this.
constexpr std::size_t first_buffer_bytes = 4u << 10;
// A body's first buffer; it doubles as bytes arrive.
constexpr std::size_t first_body_bytes = 16u << 10;
// Limit of a chunk's header with its extensions, and of the trailer.
constexpr std::size_t chunk_header_bytes_max = 8u << 10;

constexpr std::size_t not_found = static_cast<std::size_t>(-1);

bool has_absolute_target(std::string_view target) {
    return boost::beast::iequals(target.substr(0, 7), "http://") ||
           boost::beast::iequals(target.substr(0, 8), "https://");
}

// Tab, space, visible characters, and bytes beyond ASCII (RFC 9110 section 5.5).
bool is_field_text(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
    });
}

// A field's name (RFC 9110 section 5.6.2).
bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool digit = c >= '0' && c <= '9';
        constexpr std::string_view signs = "!#$%&'*+-.^_`|~";
        return letter || digit || signs.find(c) != signs.npos;
    });
}

// Whether a field that may occur once (RFC 9110 section 5.3) is repeated: a proxy in front of the
// server may have used the other one. Fields of one name are adjacent.
bool has_field_twice(const http_header& request) {
    static constexpr std::string_view once[] = {"Access-Control-Request-Method",
                                                "Authorization",
                                                "Content-Length",
                                                "Content-Type",
                                                "Expect",
                                                "Host",
                                                "Idempotency-Key",
                                                "Last-Event-ID",
                                                "Origin",
                                                "Sec-WebSocket-Key",
                                                "X-Client-Id"};
    std::string_view before;
    for (const auto& field : request) {
        const std::string_view name(field.name_string().data(), field.name_string().size());
        const auto is_name = [&](std::string_view other) {
            return boost::beast::iequals(name, other);
        };
        if (is_name(std::exchange(before, name)) && std::ranges::any_of(once, is_name)) return true;
    }
    return false;
}

// Returns the size at the beginning of a chunk's header; nullopt: malformed.
std::optional<std::size_t> chunk_size_of(std::string_view line) {
    std::size_t size = 0;
    std::size_t digits = 0;
    for (; digits < line.size() && hex_value(line[digits]) >= 0; ++digits) {
        if (size >> (8 * sizeof size - 4) != 0) return std::nullopt;
        size = size * 16 + static_cast<std::size_t>(hex_value(line[digits]));
    }
    std::string_view rest = line.substr(digits);
    if (digits == 0 || !is_field_text(rest)) return std::nullopt;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    const bool ends = rest.empty() && digits == line.size();
    return ends || rest.starts_with(';') ? std::optional(size) : std::nullopt;
}

}  // namespace

request_reader::request_reader(const http_options& options, const http_hooks& hooks,
                               body_lease& memory)
    : options_(options), hooks_(hooks), memory_(memory), bytes_(first_buffer_bytes) {}

void request_reader::begin() {
    // The buffer of a large header is not kept for the life of the connection.
    if (!has_unread() && bytes_.size() > first_buffer_bytes) {
        bytes_ = std::vector<char>(first_buffer_bytes);
        begin_ = end_ = 0;
    }
    parser_.emplace();
    // Headers are passed whole, after they were measured here; bodies never are.
    parser_->header_limit(static_cast<std::uint32_t>(options_.header_bytes_max) + 1);
    parser_->skip(true);
    line_ = scanned_ = 0;
    header_done_ = asks_ = may_continue_ = bad_line_ = into_body_ = false;
    next_ = part::nothing;
    limits_ = {};
    drop_body();
}

void request_reader::drop_body() {
    body_ = std::string();
    arrived_ = to_come_ = trailer_bytes_ = 0;
    into_body_ = false;
    memory_.give_back();
}

request_reader::step request_reader::advance() {
    if (!header_done_) {
        const step next = advance_header();
        if (next != step::ready) return next;
        asks_ = next_ != part::nothing && !body_is_here();
        if (asks_) return step::ask;
        const step allowed = check_limits();
        if (allowed != step::ready) return allowed;
    }
    if (std::exchange(asks_, false)) {
        const step allowed = check_limits();
        if (allowed != step::ready) return allowed;
    }
    return advance_body();
}

// ---- the header ----

std::string_view request_reader::field_so_far(std::string_view name) const {
    std::string_view rest(bytes_.data() + begin_, end_ - begin_);
    for (std::size_t end = 0; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1)) {
        const std::string_view line = rest.substr(0, end);
        const std::size_t colon = line.find(':');
        if (colon == line.npos || !boost::beast::iequals(line.substr(0, colon), name)) continue;
        const std::string_view value = trimmed(line.substr(colon + 1), " \t\r");
        return is_field_text(value) ? value : std::string_view();
    }
    return {};
}

// Beast's own limit applies to each part that arrives, so a header in many small parts would be
// unlimited. Here it applies to the whole header; and the parser sees each byte once.
request_reader::step request_reader::advance_header() {
    // RFC 9112 section 2.2: empty lines before the request line are ignored.
    while (end_ - begin_ >= 2 && bytes_[begin_] == '\r' && bytes_[begin_ + 1] == '\n') begin_ += 2;
    if (begin_ == end_) return step::need_more;
    const char first = bytes_[begin_];
    if (first == '\r' && end_ - begin_ == 1) return step::need_more;
    if ((first < 'A' || first > 'Z') && (first < 'a' || first > 'z')) {
        return reject(400, "malformed-request", "The request is not HTTP/1.1.");
    }
    const std::size_t header = find_header_end();
    const std::size_t known = header != not_found ? header : bad_line_ ? scanned_ : end_ - begin_;
    if (known > options_.header_bytes_max) {
        return reject(431, "header-too-large", "The request's header is too large.");
    }
    if (bad_line_) return reject(400, "malformed-request", "A header line does not end with CRLF.");
    if (header == not_found) return step::need_more;
    boost::beast::error_code error;
    const auto parsed = parser_->put(boost::asio::buffer(bytes_.data() + begin_, header), error);
    if (error || parsed != header || !parser_->is_done()) {
        return reject(400, "malformed-request", "The request's header is malformed.");
    }
    begin_ += header;
    header_done_ = true;
    return check_header();
}

// Returns the length of the header with its last empty line. A line that ends in a bare newline is
// malformed, and scanned_ is behind it: waiting for more would not fix it.
std::size_t request_reader::find_header_end() {
    const char* start = bytes_.data() + begin_;
    const std::size_t size = end_ - begin_;
    while (const void* at = std::memchr(start + scanned_, '\n', size - scanned_)) {
        const auto newline = static_cast<std::size_t>(static_cast<const char*>(at) - start);
        const std::size_t before = line_;
        line_ = scanned_ = newline + 1;
        bad_line_ = newline == before || start[newline - 1] != '\r';
        if (bad_line_) return not_found;
        if (newline - before == 1) return line_;
    }
    scanned_ = size;
    return not_found;
}

// Rejects what Beast accepts and RFC 9112 does not.
request_reader::step request_reader::check_header() {
    namespace http = boost::beast::http;
    http_header& request = parser_->get().base();
    const bool is_1_1 = request.version() == 11;
    if (is_1_1 && request.count(http::field::host) == 0) {
        return reject(400, "malformed-request", "The request must have one Host.");
    }
    if (has_field_twice(request)) {
        return reject(400, "malformed-request", "A header field that must not repeat is repeated.");
    }
    // RFC 9112 section 3.2.2: a server accepts the absolute form too. Handlers expect paths.
    const std::string_view target(request.target().data(), request.target().size());
    if (has_absolute_target(target)) {
        const std::size_t path = target.find('/', target.find("//") + 2);
        const std::string origin =
            path == std::string_view::npos ? "/" : std::string(target.substr(path));
        request.target(origin);
    }
    // An unknown coding hides where the request ends, and so where the next one begins.
    chunked_ = parser_->chunked();
    const auto [coding, last] = request.equal_range(http::field::transfer_encoding);
    if (coding != last && (!chunked_ || !is_1_1 || std::next(coding) != last ||
                           !boost::beast::iequals(coding->value(), "chunked"))) {
        return reject(400, "malformed-request", "The transfer coding must be chunked.");
    }
    if (const auto expect = request.find(http::field::expect); is_1_1 && expect != request.end()) {
        if (!boost::beast::iequals(expect->value(), "100-continue")) {
            return reject(417, "expectation-failed", "Expect must be 100-continue.");
        }
        may_continue_ = true;
    }
    to_come_ = static_cast<std::size_t>(parser_->content_length().value_or(0));
    next_ = chunked_ ? part::chunk_header : to_come_ > 0 ? part::bytes : part::nothing;
    return step::ready;
}

bool request_reader::body_is_here() const noexcept {
    return !chunked_ && end_ - begin_ >= to_come_;
}

// Checks the body against its limit.
request_reader::step request_reader::check_limits() {
    if (next_ == part::nothing) return step::ready;
    limits_ = hooks_.body_limits_of ? hooks_.body_limits_of(header())
                                    : body_limits{.bytes_max = options_.body_bytes_max};
    if (!chunked_ && to_come_ > limits_.bytes_max) return reject_too_large();
    return step::ready;
}

// ---- the body ----

request_reader::step request_reader::advance_body() {
    for (step next = step::ready; next == step::ready;) {
        switch (next_) {
        case part::bytes: next = read_bytes(); break;
        case part::chunk_header: next = read_chunk_header(); break;
        case part::chunk_end: next = read_chunk_end(); break;
        case part::trailer: next = read_trailer(); break;
        case part::nothing: return step::ready;
        }
        if (next != step::ready) return next;
    }
    return step::ready;
}

// Takes bytes that are buffered; the rest is read into the body directly.
request_reader::step request_reader::read_bytes() {
    while (to_come_ > 0) {
        if (arrived_ == body_.size() && !make_room()) {
            return reject(503, "overloaded",
                          "The memory limit for bodies is reached. Retry in a moment.");
        }
        const std::size_t some = std::min({to_come_, end_ - begin_, body_.size() - arrived_});
        if (some == 0) return await_more();
        std::memcpy(body_.data() + arrived_, bytes_.data() + begin_, some);
        begin_ += some;
        arrived_ += some;
        to_come_ -= some;
    }
    next_ = chunked_ ? part::chunk_end : part::nothing;
    return step::ready;
}

// Reserves memory as bytes arrive, not as they are announced: twice as much each time. False: the
// budget is exhausted.
bool request_reader::make_room() {
    const std::size_t most = chunked_ ? limits_.bytes_max : arrived_ + to_come_;
    const std::size_t wanted = std::min(most, std::max(first_body_bytes, 2 * body_.size()));
    if (!memory_.resize(wanted)) return false;
    std::string larger;
    larger.reserve(wanted);
    larger.append(body_, 0, arrived_).resize(wanted);
    body_ = std::move(larger);
    return true;
}

request_reader::step request_reader::read_chunk_header() {
    const auto line = next_line();
    if (bad_line_) return reject_body();
    if (!line) return await_more();
    const auto size = chunk_size_of(*line);
    if (!size) return reject_body();
    if (*size > limits_.bytes_max - arrived_) return reject_too_large();
    to_come_ = *size;
    next_ = *size > 0 ? part::bytes : part::trailer;
    return step::ready;
}

request_reader::step request_reader::read_chunk_end() {
    constexpr std::string_view end = "\r\n";
    const std::string_view here(bytes_.data() + begin_, std::min(end.size(), end_ - begin_));
    if (!end.starts_with(here)) return reject_body();
    if (here.size() < end.size()) return await_more();
    begin_ += end.size();
    next_ = part::chunk_header;
    return step::ready;
}

// Drops the trailer's fields (RFC 9110 section 6.5.1): they come after the decisions that the
// header led to, and must not look as if they had been in it.
request_reader::step request_reader::read_trailer() {
    const auto line = next_line();
    if (bad_line_) return reject_body();
    if (!line) return await_more();
    trailer_bytes_ += line->size() + 2;
    if (line->empty()) {
        next_ = part::nothing;
        return step::ready;
    }
    const std::size_t colon = std::min(line->find(':'), line->size());
    const bool is_field = colon < line->size() && is_token(line->substr(0, colon)) &&
                          is_field_text(line->substr(colon + 1));
    if (!is_field || trailer_bytes_ > chunk_header_bytes_max) return reject_body();
    return step::ready;
}

// Returns a line without its end, valid until the next step; nullopt: incomplete or malformed.
std::optional<std::string_view> request_reader::next_line() {
    const char* start = bytes_.data() + begin_;
    const std::size_t size = std::min(end_ - begin_, chunk_header_bytes_max);
    const void* at = std::memchr(start, '\n', size);
    if (!at) {
        bad_line_ = size == chunk_header_bytes_max;
        return std::nullopt;
    }
    const auto newline = static_cast<std::size_t>(static_cast<const char*>(at) - start);
    bad_line_ = newline == 0 || start[newline - 1] != '\r';
    if (bad_line_) return std::nullopt;
    begin_ += newline + 1;
    return std::string_view(start, newline - 1);
}

// A client that has begun to send its body does not wait for 100 Continue.
request_reader::step request_reader::await_more() {
    const bool waits = std::exchange(may_continue_, false) && arrived_ == 0 && begin_ == end_;
    return waits ? step::want_continue : step::need_more;
}

// ---- bytes ----

boost::asio::mutable_buffer request_reader::space() {
    into_body_ = header_done_ && next_ == part::bytes && begin_ == end_;
    if (into_body_) {
        return boost::asio::buffer(body_.data() + arrived_,
                                   std::min(to_come_, body_.size() - arrived_));
    }
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (end_ == bytes_.size()) {
        // A larger header or line has been rejected by now.
        const std::size_t most =
            std::max(options_.header_bytes_max, chunk_header_bytes_max) + first_buffer_bytes;
        bytes_.resize(std::min(most, bytes_.size() * 2));
    }
    return boost::asio::buffer(bytes_.data() + end_, bytes_.size() - end_);
}

void request_reader::received(std::size_t bytes) noexcept {
    if (into_body_) {
        arrived_ += bytes;
        to_come_ -= bytes;
        may_continue_ = false;
    } else {
        end_ += bytes;
    }
}

http_request request_reader::take() {
    CALLSIGN_ASSERT(header_done_ && next_ == part::nothing);
    http_request out;
    out.base() = std::move(parser_->get().base());
    body_.resize(arrived_);
    out.body() = std::move(body_);
    return out;
}

// ---- rejections ----

request_reader::step request_reader::reject(unsigned status, std::string_view code,
                                            std::string_view detail) noexcept {
    why_ = {status, code, detail, {}, std::nullopt};
    return step::rejected;
}

request_reader::step request_reader::reject_body() noexcept {
    return reject(400, "malformed-request", "The request's body is malformed.");
}

request_reader::step request_reader::reject_too_large() noexcept {
    reject(413, "body-too-large", "The request's body is too large.");
    why_.said = std::move(limits_.too_large);
    return step::rejected;
}

}  // namespace callsign::net
