#include "session.hpp"

#include "use_result.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <utility>

namespace callsign::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// How long a refused client may take to read why, while what it still sends is thrown away: closing
// at once would reset the connection and take the answer with it.
constexpr milliseconds linger_timeout{2'000};
constexpr std::size_t linger_bytes_max = 16u << 20;
// A buffer that one large answer made is not kept for the life of the connection.
constexpr std::size_t kept_buffer_bytes_max = 64u << 10;

constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

constexpr refusal_reason too_slow{408, "request-timeout", "The request took too long to arrive."};
constexpr refusal_reason too_many{503, "too-many-connections",
                                  "The server has as many connections as it takes."};

// What is left of a request for the probe, once the handler has the rest.
http_request outline_of(const http_request& request) {
    http_request outline;
    if (request.method() == boost::beast::http::verb::unknown) {
        outline.method_string(request.method_string());
    } else {
        outline.method(request.method());
    }
    outline.target(request.target());
    outline.version(request.version());
    outline.id = request.id;
    return outline;
}

}  // namespace

session::session(server_state& server, asio::ip::tcp::socket socket)
    : server_(server),
      connection_(++server.connections_seen),
      socket_(std::move(socket)),
      share_(server),
      reader_(server.options, server.hooks,
              [this](std::size_t bytes) { return share_.cover(bytes); }) {
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
    server_.probe->connection_closed();
    if (server_.sessions.empty()) server_.sessions_changed(false);
}

asio::awaitable<void> session::serve() {
    for (bool go_on = true; go_on;) {
        const bool has_request = co_await read_request();
        if (!has_request) co_return;
        go_on = co_await answer();
    }
    if (reader_.has_unread()) co_await linger();
}

// False: the connection is over, the client having been told why if there was a reason.
asio::awaitable<bool> session::read_request() {
    reader_.begin();
    body_parts_ = 0;
    for (;;) {
        const request_reader::step next = reader_.advance();
        if (next == request_reader::step::ready) co_return true;
        if (next == request_reader::step::refused) {
            co_await refuse(reader_.why());
            co_return false;
        }
        if (next == request_reader::step::want_continue) {
            const bool written = co_await write(continue_line);
            if (!written) co_return false;
            continue;
        }
        enter_reading_phase();
        if (phase_ == phase::idle && server_.stopping) co_return false;
        const auto space = reader_.space();
        const auto [error, bytes] = co_await socket_.async_read_some(space, use_result);
        if (expired_ && error && phase_ != phase::idle) {
            co_await refuse(too_slow);
            co_return false;
        }
        if (error) co_return false;
        reader_.received(bytes);
    }
}

// False: this was the connection's last answer.
asio::awaitable<bool> session::answer() {
    if (server_.abandoned) co_return false;
    http_request request = reader_.take();
    request.id = server_.draw_id();
    request.connection = connection_;
    const http_request outline = outline_of(request);
    const bool client_stays = request.keep_alive();
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
        response = server_.refusal(500, "internal-error", "The server failed.");
    }
    share_.give_back();  // the request's body is gone by now
    if (!share_.cover(response.body.size())) {
        response = server_.refusal(503, "overloaded", "Too many large bodies are under way.");
        response.headers.emplace_back("Retry-After", "1");
    }
    const bool keep_alive = client_stays && failure.empty() && !server_.stopping;
    server_.probe->request_answered(outline, response, steady::now() - start);
    const bool apart = is_large(response);
    compose(response, outline, keep_alive, !apart);
    bool written = co_await write(out_);
    const bool is_head = outline.method() == boost::beast::http::verb::head;
    if (written && apart && !is_head) written = co_await write(response.body);
    share_.give_back();
    co_return written&& keep_alive;
}

// Such a body is written from where it is, not copied behind its header.
bool session::is_large(const http_response& response) const {
    return response.body.size() > server_.options.body_bytes_max;
}

asio::awaitable<bool> session::write(std::string_view bytes) {
    const phase before = phase_;
    const std::size_t part = std::max(server_.options.body_bytes_max, kept_buffer_bytes_max);
    enter(phase::write);
    for (std::size_t left = part; !bytes.empty();) {
        const auto buffer = asio::buffer(bytes.data(), std::min(bytes.size(), left));
        const auto [error, written] = co_await socket_.async_write_some(buffer, use_result);
        if (error) co_return false;
        bytes.remove_prefix(written);
        left -= written;
        if (left > 0) continue;
        left = part;
        enter(phase::write);
    }
    enter(before);
    co_return true;
}

asio::awaitable<void> session::refuse(refusal_reason why) {
    http_request nothing;
    nothing.version(11);
    nothing.id = server_.draw_id();
    const http_response response =
        why.said ? std::move(*why.said) : server_.refusal(why.status, why.code, why.detail);
    server_.probe->request_answered(nothing, response, {});
    compose(response, nothing, false);
    const bool written = co_await write(out_);
    if (written) co_await linger();
}

asio::awaitable<void> session::turn_away() {
    http_request nothing;
    nothing.version(11);
    nothing.id = server_.draw_id();
    http_response response = server_.refusal(too_many.status, too_many.code, too_many.detail);
    const bool says_when =
        std::any_of(response.headers.begin(), response.headers.end(),
                    [](const auto& header) { return header.first == "Retry-After"; });
    if (!says_when) response.headers.emplace_back("Retry-After", "1");
    compose(response, nothing, false);
    const bool written = co_await write(out_);
    if (written) co_await linger();
}

// Says that nothing more will come, and waits for the client to have taken what did.
asio::awaitable<void> session::linger() {
    error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
    enter(phase::linger);
    out_.resize(kept_buffer_bytes_max);
    for (std::size_t total = 0; total < linger_bytes_max && !server_.stopping;) {
        const auto buffer = asio::buffer(out_);
        const auto [error, bytes] = co_await socket_.async_read_some(buffer, use_result);
        if (error) co_return;
        total += bytes;
    }
}

void session::compose(const http_response& response, const http_request& request, bool keep_alive,
                      bool with_body) {
    if (out_.capacity() > kept_buffer_bytes_max) std::string().swap(out_);
    out_.clear();
    const response_frame frame{
        .request_id = request.id,
        .date = server_.date.at(std::chrono::system_clock::now()),
        .keep_alive = keep_alive,
        .http_1_0 = request.version() == 10,
        .drop_body = !with_body || request.method() == boost::beast::http::verb::head,
    };
    append_response(response, frame, out_);
}

// ---- deadlines ----

// The phases of reading have one deadline each, however many reads they take; a large body has one
// for each part of it.
void session::enter_reading_phase() {
    const phase next = reader_.header_done() ? phase::body
                       : reader_.begun()     ? phase::header
                                             : phase::idle;
    const std::size_t parts = reader_.body_bytes() / server_.options.body_bytes_max;
    if (next != phase_ || parts > body_parts_) enter(next);
    body_parts_ = parts;
}

void session::enter(phase next) {
    phase_ = next;
    expired_ = false;
    const http_options& o = server_.options;
    switch (next) {
    case phase::idle: deadline_ = steady::now() + o.idle_timeout; break;
    case phase::header: deadline_ = steady::now() + o.header_timeout; break;
    case phase::body: deadline_ = steady::now() + o.body_timeout; break;
    case phase::write: deadline_ = steady::now() + o.write_timeout; break;
    case phase::linger: deadline_ = steady::now() + linger_timeout; break;
    case phase::handler: deadline_ = steady::time_point::max(); break;
    }
}

// A cancelled operation comes back to the session as an error; one that had just completed does
// not, and then the next look, a tick later, cancels the next one.
void session::check_deadline(steady::time_point now) {
    if (now < deadline_) return;
    const bool first = !std::exchange(expired_, true);
    if (first && phase_ != phase::idle && phase_ != phase::linger) {
        server_.probe->connection_timed_out();
    }
    error_code ignored;
    socket_.cancel(ignored);
}

void session::close_if_idle() {
    if (phase_ != phase::idle && phase_ != phase::linger) return;
    error_code ignored;
    socket_.cancel(ignored);
}

void session::cut_off() {
    error_code ignored;
    socket_.close(ignored);
}

}  // namespace callsign::net
