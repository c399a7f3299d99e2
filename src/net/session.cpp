#include "session.hpp"

#include "use_result.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <cstdio>
#include <utility>

namespace callsign::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// How long a rejected client may take to read the response, while what it still sends is discarded:
// closing at once would reset the connection, and lose the response.
constexpr milliseconds linger_timeout{2'000};
// How long any client may transfer nothing once the server stops.
constexpr milliseconds stop_timeout{2'000};
// While the server stops: for the request that follows a response with is_followed.
constexpr milliseconds next_request_timeout{1'000};
constexpr std::size_t linger_bytes_max = 16u << 20;
// Discarded bytes are read in pieces of this size; no larger buffer is kept for a connection.
constexpr std::size_t linger_buffer_bytes = 16u << 10;
// A response of this size is sent even if no memory is left for bodies.
constexpr std::size_t small_answer_bytes_max = 16u << 10;

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

const rejection_reason too_slow{408, "request-timeout",
                                "The request was not received within the timeout."};
constexpr std::string_view rate_limited = "rate-limited";
const rejection_reason too_many{503, "too-many-connections",
                                "The server's connection limit is reached.", rate_limited};
const rejection_reason too_many_requests{
    503, "too-many-connections", "The limit of concurrent requests of this address is reached.",
    rate_limited};
const rejection_reason needs_https{400, "https-required", "This port requires TLS: use https://."};
const rejection_reason failed{500, "internal-error", "The server failed."};
const rejection_reason needs_socket{426, "upgrade-required", "A WebSocket upgrade is required."};
const rejection_reason too_many_bodies{503, "overloaded",
                                       "The memory limit for bodies is reached."};

// Enough for a scheme, a host and a port.
constexpr std::size_t origin_bytes_max = 512;

std::vector<std::string_view> values_of(const http_header& header, std::string_view name) {
    std::vector<std::string_view> values;
    const auto [first, last] = header.equal_range({name.data(), name.size()});
    for (auto field = first; field != last; ++field) {
        values.emplace_back(field->value().data(), field->value().size());
    }
    return values;
}

void set_origin(std::string_view origin, http_header& outline) {
    if (origin.empty() || origin.size() > origin_bytes_max) return;
    outline.set(boost::beast::http::field::origin, {origin.data(), origin.size()});
}

// The part of a request that the probe and the hook complete() need after the handler has the rest.
http_request outline_of(const http_header& request, std::string_view id,
                        const address_bytes& client) {
    http_request outline;
    outline.client_address = client;
    if (request.method() == boost::beast::http::verb::unknown) {
        outline.method_string(request.method_string());
    } else {
        outline.method(request.method());
    }
    outline.target(request.target());
    outline.version(request.version());
    if (const auto origins = values_of(request, "Origin"); !origins.empty()) {
        set_origin(origins.front(), outline);
    }
    outline.id = id;
    return outline;
}

}  // namespace

session::session(server_state& server, asio::ip::tcp::socket socket, const address_bytes& from,
                 const std::optional<address_bytes>& peer)
    : server_(server),
      connection_(std::move(socket)),
      from_(from),
      client_address_(from),
      peer_(server),
      client_(server),
      memory_(std::make_shared<body_lease>(server.bodies)),
      reader_(server.options, server.hooks, *memory_) {
    if (peer) peer_.take(*peer);
    place = server_.sessions.size();
    server_.sessions.push_back(this);
    enter(phase::idle);
    server_.probe->connection_opened();
    if (server_.sessions.size() == 1) server_.sessions_changed(true);
}

session::~session() {
    server_.sessions[place] = server_.sessions.back();
    server_.sessions[place]->place = place;
    server_.sessions.pop_back();
    if (turned_away_) --server_.turned_away;
    server_.probe->connection_closed();
    if (server_.sessions.empty()) server_.sessions_changed(false);
}

asio::awaitable<void> session::serve() {
    const bool is_open = co_await shake_hands();
    for (bool go_on = is_open; go_on;) {
        const bool has_request = co_await read_request();
        if (!has_request) co_return;
        go_on = co_await answer();
    }
    const bool says_end = connection_.is_tls() && !cut_short_;
    if (is_open && (says_end || reader_.has_unread())) co_await linger();
}

// False: the connection is over. True at once without a certificate.
asio::awaitable<bool> session::shake_hands() {
    // Kept until the handshake is done, even if the certificate is replaced.
    const std::shared_ptr<asio::ssl::context> context = server_.options.tls;
    if (!context) co_return true;
    enter(phase::handshake);
    const auto arrival = asio::ip::tcp::socket::wait_read;
    const auto [gone] = co_await connection_.socket().async_wait(arrival, use_result);
    if (gone || expired_ || evicted_) co_return false;
    if (connection_.speaks_clear_text()) {
        co_await reject_when_asked(needs_https);
        co_return false;
    }
    const error_code failed = co_await connection_.shake_hands(*context);
    if (failed || expired_ || evicted_ || server_.stopping) co_return false;
    enter(phase::idle);
    co_return true;
}

// False: the connection is over; if there was a reason, a rejection was sent.
asio::awaitable<bool> session::read_request() {
    using step = request_reader::step;
    reader_.begin();
    memory_->pays(payer::anonymous());
    client_.give_back();
    client_address_ = from_;
    begun_ = server_.now();
    bytes_in_ = bytes_out_ = 0;
    id_.clear();
    for (bool counted = false;;) {
        const step next = reader_.advance();
        if (!counted && reader_.header_done() && next != step::rejected) {
            counted = true;
            begun_ = server_.now();
            if (!count_client(reader_.header())) {
                co_await reject(too_many_requests);
                co_return false;
            }
        }
        switch (next) {
        case step::ready: co_return true;
        case step::rejected: co_await reject(reader_.why()); co_return false;
        case step::ask: {
            const bool allowed = co_await may_come();
            if (!allowed) co_return false;
            break;
        }
        case step::want_continue: {
            const bool written = co_await write(continue_line);
            if (!written) co_return false;
            break;
        }
        case step::need_more: {
            const bool read = co_await read_more();
            if (!read) co_return false;
            break;
        }
        }
    }
}

asio::awaitable<bool> session::read_more() {
    enter_reading_phase();
    if (phase_ == phase::idle && server_.stopping && followed_target_.empty()) co_return false;
    if (phase_ != phase::body && evicted_) co_return false;
    const auto space = reader_.space();
    const auto [error, bytes] = co_await connection_.async_read_some(space, use_result);
    if (expired_ && phase_ != phase::idle) {
        co_await reject(too_slow);
        co_return false;
    }
    if (error) co_return false;
    reader_.received(bytes);
    co_return true;
}

// Whether the body may be sent, before any memory is reserved for it.
asio::awaitable<bool> session::may_come() {
    if (!server_.hooks.admit) co_return true;
    if (server_.abandoned) co_return false;
    id_ = server_.draw_id();
    http_request head;
    head.base() = reader_.header();
    head.id = id_;
    head.client_address = client_address_;
    head.notes = reader_.notes();
    enter(phase::handler);
    admission given;
    std::string failure;
    try {
        asio::awaitable<admission> asking = server_.hooks.admit(std::move(head));
        given = co_await std::move(asking);
    } catch (const std::exception& e) {
        failure = e.what();
    }
    if (!failure.empty()) {
        server_.probe->session_failed(failure);
        co_await reject(failed);
        co_return false;
    }
    if (given.rejected) {
        rejection_reason why{.said = std::move(given.rejected)};
        co_await reject(std::move(why));
        co_return false;
    }
    memory_->pays(given.payer);
    co_return true;
}

// On a trusted proxy's connection, each request counts for its client. False: the limit is reached.
bool session::count_client(const http_header& header) {
    client_address_ = from_;
    if (peer_.address()) return true;
    const auto& trusted = server_.options.trusted_proxies;
    const auto named = values_of(header, "X-Forwarded-For");
    const auto client = named.empty() ? forwarded_by(values_of(header, "Forwarded"), trusted)
                                      : forwarded_for(named, trusted);
    if (!client) return true;
    client_address_ = *client;
    const address_bytes address = counted_as(*client);
    if (server_.count_of(address) >= server_.options.connections_per_address_max) return false;
    client_.take(address);
    return true;
}

// False: this was the connection's last response.
asio::awaitable<bool> session::answer() {
    if (server_.abandoned) co_return false;
    http_request request = reader_.take();
    if (id_.empty()) id_ = server_.draw_id();
    request.id = id_;
    request.client_address = client_address_;
    bytes_in_ = request.body().size();
    request.memory = memory_;
    request.ending = end_;
    request.notes = reader_.notes();
    if (evicted_) end_->come();  // while its request arrived
    const http_request outline = outline_of(request, request.id, client_address_);
    const bool client_stays = request.keep_alive();
    std::optional<http_header> asked;
    if (request.wants_socket()) asked.emplace(request.base());
    enter(phase::handler);

    const auto start = steady::now();
    http_response response;
    std::string failure;
    try {
        asio::awaitable<http_response> answering = server_.handler(std::move(request));
        response = co_await std::move(answering);
    } catch (const std::exception& e) {
        failure = e.what();
    } catch (...) {
        failure = "not a std::exception";
    }
    if (!failure.empty()) {
        server_.probe->session_failed(failure);
        response = rejection_of(failed);
    }
    if (response.upgrade && !asked) {
        reject_instead(response, needs_socket);
    }
    // The request's body is destroyed by now, and what was reserved for the response now covers its
    // body. A small one is always sent: the request has been carried out.
    if (!has_room_for(response.body.size())) {
        reject_instead(response, too_many_bodies);
        memory_->resize_anyway(response.body.size());
    }
    const bool is_streamed = response.write_body != nullptr;
    // A client that requests the same target again polls, and is not within a sequence.
    const bool is_poll = followed_target_ == outline.target();
    const bool is_followed = response.is_followed && !(server_.stopping && is_poll);
    followed_target_.assign(is_followed ? outline.target() : "");
    const bool keep_alive = client_stays && failure.empty() && !evicted_ && !is_streamed &&
                            (!server_.stopping || is_followed);
    complete(outline, response);
    server_.probe->request_answered(outline, response, steady::now() - start);
    if (response.upgrade) {
        const response_frame frame = frame_of(outline, false);
        const bool met = co_await talk(std::move(*asked), response, frame);
        finished(outline, 101, response, met);
        co_return false;
    }
    compose(response, outline, keep_alive);
    const bool is_head = outline.method() == boost::beast::http::verb::head;
    const bool has_body = !is_head && may_have_body(response.status);
    std::string_view body = has_body ? response.body : std::string_view();
    // TLS writes each part in a record of its own, and a record costs more than a copy.
    if (connection_.is_tls() && body.size() <= small_answer_bytes_max) {
        out_ += std::exchange(body, {});
    }
    bool written = co_await write(out_, body);
    if (written && has_body && is_streamed) {
        written = co_await stream(response.write_body, outline.version() >= 11);
    }
    memory_->give_back();
    finished(outline, response.status, response, written);
    co_return written&& keep_alive;
}

http_response session::rejection_of(const rejection_reason& why) {
    return server_.rejection({why.status, why.code, why.detail, id_});
}

// Replaces the handler's response; what it knows of the request stays.
void session::reject_instead(http_response& response, const rejection_reason& why) {
    request_facts known = std::move(response.facts);
    response = rejection_of(why);
    known.reason = response.facts.reason;
    response.facts = std::move(known);
}

void session::finished(const http_request& request, unsigned status, const http_response& response,
                       bool sent) {
    server_.probe->request_finished({.request = request,
                                     .status = status,
                                     .facts = response.facts,
                                     .is_upstream_error = response.is_upstream_error,
                                     .took = server_.now() - begun_,
                                     .bytes_in = bytes_in_,
                                     .bytes_out = bytes_out_,
                                     .sent = sent});
}

// ---- streamed bodies ----

// Reserves memory until the client has taken the bytes, as for any response's body.
bool session::has_room_for(std::size_t bytes) {
    if (memory_->resize(bytes)) return true;
    if (bytes > small_answer_bytes_max) return false;
    memory_->resize_anyway(bytes);
    return true;
}

class session::streamed_body final : public body_stream {
  public:
    streamed_body(session& of, bool chunked) : session_(of), chunked_(chunked) {}

    asio::awaitable<bool> write(std::string bytes) override {
        if (is_over()) co_return false;
        bool written = session_.has_room_for(bytes.size());
        if (written) written = co_await send(std::move(bytes));
        session_.memory_->give_back();
        if (!written) session_.end_->over = true;
        session_.enter(phase::stream);
        co_return !is_over();
    }
    bool is_over() const noexcept override { return session_.end_->over; }
    void tell_when_over(std::function<void()> told) override {
        session_.end_->told = std::move(told);
    }

  private:
    asio::awaitable<bool> send(std::string bytes) {
        if (!chunked_) co_return co_await session_.write(bytes);
        std::array<char, 20> size{};
        const int digits = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
        const std::string_view head(size.data(), static_cast<std::size_t>(digits));
        // Only small strings are written in one piece: a large one would be copied for two bytes.
        if (bytes.size() <= small_answer_bytes_max) {
            bytes += line_end;
            co_return co_await session_.write(head, bytes);
        }
        const bool written = co_await session_.write(head, bytes);
        if (!written) co_return false;
        co_return co_await session_.write(line_end);
    }

    session& session_;
    bool chunked_;
};

// True: the writer has finished.
asio::awaitable<bool> session::stream(const body_writer& writer, bool chunked) {
    if (!reader_.has_unread()) reader_.drop_buffer();
    enter(phase::stream);
    // The client sends nothing more, so that readability means its end.
    connection_.socket().async_wait(asio::ip::tcp::socket::wait_read,
                                    [end = end_](const error_code& error) {
                                        if (!error) end->come();
                                    });
    streamed_body body(*this, chunked);
    std::string failure;
    try {
        asio::awaitable<void> writing = writer(body);
        co_await std::move(writing);
    } catch (const std::exception& e) {
        failure = e.what();
    }
    end_->told = {};
    // A response that is cut off has no last chunk, by which clients notice.
    cut_short_ = cut_short_ || !failure.empty();
    if (!failure.empty()) {
        server_.probe->session_failed(failure);
        co_return false;
    }
    if (end_->over) co_return false;
    if (chunked) co_return co_await write("0\r\n\r\n");
    co_return true;
}

asio::awaitable<bool> session::write(std::string_view head, std::string_view body) {
    enter(phase::write);
    while (!head.empty() || !body.empty()) {
        const std::array<asio::const_buffer, 2> both{asio::buffer(head.data(), head.size()),
                                                     asio::buffer(body.data(), body.size())};
        const auto [error, written] = co_await connection_.async_write_some(both, use_result);
        if (error || expired_) {
            cut_short_ = true;
            co_return false;
        }
        pace_.moved(written, server_.now());
        const std::size_t of_head = std::min(written, head.size());
        head.remove_prefix(of_head);
        body.remove_prefix(written - of_head);
        bytes_out_ += written - of_head;
    }
    co_return true;
}

asio::awaitable<void> session::reject(rejection_reason why) {
    if (id_.empty()) id_ = server_.draw_id();
    http_request outline;
    outline.version(11);
    outline.id = id_;
    outline.client_address = client_address_;
    if (reader_.header_done()) {
        outline = outline_of(reader_.header(), id_, client_address_);
    } else {
        set_origin(reader_.field_so_far("Origin"), outline);
    }
    http_response response = why.said ? std::move(*why.said) : rejection_of(why);
    if (!why.said) response.facts.rejected = why.logged_as;
    bytes_in_ = reader_.body_bytes();
    // Nothing of the request is held in memory while its client reads the response.
    reader_.drop_body();
    complete(outline, response);
    server_.probe->request_answered(outline, response, server_.now() - begun_);
    compose(response, outline, false);
    const bool is_head = outline.method() == boost::beast::http::verb::head;
    const bool written = co_await write(out_, is_head ? std::string_view() : response.body);
    finished(outline, response.status, response, written);
    if (written) co_await linger();
}

asio::awaitable<void> session::turn_away() {
    turned_away_ = true;
    ++server_.turned_away;
    co_await reject_when_asked(too_many);
}

// Rejects whatever is requested. The header is read first: without its Origin no page may read the
// response, and a client that is still sending may not read at all.
asio::awaitable<void> session::reject_when_asked(rejection_reason why) {
    using step = request_reader::step;
    begun_ = server_.now();
    reader_.begin();
    enter(phase::linger);
    while (reader_.advance() == step::need_more && !reader_.header_done()) {
        const auto space = reader_.space();
        const auto [error, bytes] = co_await connection_.async_read_some(space, use_result);
        if (server_.stopping || evicted_) co_return;
        if (error) break;
        reader_.received(bytes);
    }
    co_await reject(std::move(why));
}

// Ends the sending direction, and waits until the client has taken what was sent.
asio::awaitable<void> session::linger() {
    enter(phase::linger);
    if (!cut_short_) co_await connection_.say_end();
    error_code ignored;
    connection_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
    out_.resize(linger_buffer_bytes);
    for (std::size_t total = 0; total < linger_bytes_max && !server_.stopping;) {
        const auto buffer = asio::buffer(out_);
        const auto [error, bytes] =
            co_await connection_.socket().async_read_some(buffer, use_result);
        if (error || expired_ || evicted_) co_return;
        total += bytes;
    }
}

// Called once for each response, rejections included.
void session::complete(const http_request& request, http_response& response) {
    if (server_.hooks.complete) server_.hooks.complete(request, response);
}

response_frame session::frame_of(const http_request& request, bool keep_alive) {
    const bool by_tls = connection_.is_tls() || server_.options.behind_tls;
    return {
        .request_id = request.id,
        .date = server_.date.at(std::chrono::system_clock::now()),
        .keep_alive = keep_alive,
        .http_1_0 = request.version() == 10,
        .strict_transport = by_tls ? server_.strict_transport : std::string_view(),
    };
}

void session::compose(const http_response& response, const http_request& request, bool keep_alive) {
    if (out_.capacity() > linger_buffer_bytes) std::string().swap(out_);
    out_.clear();
    append_head(response, frame_of(request, keep_alive), out_);
}

// ---- deadlines ----

// The phases of reading have one deadline each, however many reads they take; a body's moves as it
// arrives.
void session::enter_reading_phase() {
    const phase next = reader_.header_done() ? phase::body
                       : reader_.begun()     ? phase::header
                                             : phase::idle;
    const std::size_t before = std::exchange(body_bytes_, reader_.body_bytes());
    if (next != phase_) {
        enter(next);
    } else if (next == phase::body) {
        pace_.moved(body_bytes_ - before, server_.now());
    }
}

void session::enter(phase next) {
    phase_ = next;
    expired_ = false;
    since_ = server_.now();
    const http_options& o = server_.options;
    switch (next) {
    case phase::handshake: pace_.begin(since_, o.handshake_timeout, 0); break;
    case phase::idle:
        pace_.begin(since_, server_.stopping ? next_request_timeout : o.idle_timeout, 0);
        break;
    case phase::header: pace_.begin(since_, timeout(o.header_timeout), 0); break;
    case phase::body: pace_.begin(since_, timeout(o.body_timeout), o.body_rate_min); break;
    case phase::write: pace_.begin(since_, timeout(o.write_timeout), o.body_rate_min); break;
    case phase::linger: pace_.begin(since_, linger_timeout, 0); break;
    case phase::handler:
    case phase::stream: break;
    }
}

milliseconds session::timeout(milliseconds usual) const noexcept {
    return server_.stopping ? std::min(usual, stop_timeout) : usual;
}

void session::enter_write(std::size_t bytes) {
    enter(phase::write);
    const http_options& o = server_.options;
    if (o.body_rate_min == 0) return;
    const auto seconds = std::chrono::seconds(bytes / o.body_rate_min);
    pace_.begin(since_, timeout(o.write_timeout + seconds), o.body_rate_min);
}

// A cancelled operation returns an error to the session; one that had just completed finds expired_
// set.
void session::check_deadline(steady::time_point now) {
    if (phase_ == phase::handler && end_->told && connection_.client_has_gone()) end_->come();
    const bool is_timed = phase_ != phase::handler && phase_ != phase::stream;
    if (!is_timed || now < pace_.deadline()) return;
    const bool is_late = phase_ != phase::idle && phase_ != phase::linger;
    if (is_late && !std::exchange(timed_out_, true)) server_.probe->connection_timed_out();
    expired_ = true;
    error_code ignored;
    connection_.socket().cancel(ignored);
}

void session::prepare_to_stop() {
    const bool is_under_way =
        phase_ == phase::header || phase_ == phase::body || phase_ == phase::write;
    const bool is_followed = phase_ == phase::idle && !followed_target_.empty() &&
                             server_.now() - since_ < next_request_timeout;
    if ((is_under_way || is_followed) && !expired_) enter(phase_);
    if (is_followed) return;
    if (phase_ != phase::handshake && phase_ != phase::idle && phase_ != phase::linger) return;
    error_code ignored;
    connection_.socket().cancel(ignored);
}

session::need session::needed() const noexcept {
    if (evicted_ || turned_away_) return need::at_work;
    switch (phase_) {
    case phase::idle: return need::idle;
    case phase::handshake:
    case phase::header:
    case phase::stream:  // followers can resume from their cursor
    case phase::linger: return need::on_its_way;
    case phase::handler: return end_->told ? need::on_its_way : need::at_work;
    case phase::body:
    case phase::write: return need::at_work;
    }
    return need::at_work;
}

void session::displace() {
    evicted_ = true;
    server_.probe->connection_evicted();
    error_code ignored;
    connection_.socket().cancel(ignored);
    if (phase_ == phase::stream || phase_ == phase::handler) end_->come();
}

void session::cut_off() {
    error_code ignored;
    connection_.socket().close(ignored);
    if (phase_ == phase::stream || phase_ == phase::handler) end_->come();
}

}  // namespace callsign::net
