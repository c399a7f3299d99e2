#include "listening.hpp"
#include "server_state.hpp"
#include "session.hpp"
#include "use_result.hpp"

#include <callsign/net/http.hpp>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <netinet/tcp.h>
#include <optional>
#include <random>
#include <sys/socket.h>
#include <thread>

namespace callsign::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Connections beyond a limit that may wait for their 503. Further ones are just closed.
constexpr std::size_t turned_away_max = 64;
// Pause after a failed accept, for instance for lack of descriptors: until some connection has
// ended.
constexpr milliseconds accept_pause{100};
// Of one response, the bytes that the kernel takes beyond those in flight to the client.
constexpr int unsent_bytes_max = 128 << 10;

// Often enough that deadlines are met within a quarter of themselves, rarely enough to cost
// nothing.
milliseconds tick_of(const http_options& o) {
    const milliseconds shortest = std::min(
        {o.handshake_timeout, o.idle_timeout, o.header_timeout, o.body_timeout, o.write_timeout});
    return std::clamp(shortest / 4, milliseconds{10}, milliseconds{250});
}

std::string make_id_prefix() {
    std::random_device chance;
    std::array<char, 8> digits;
    const char* end = std::to_chars(digits.begin(), digits.end(), chance(), 16).ptr;
    std::string prefix(digits.data(), static_cast<std::size_t>(end - digits.data()));
    return prefix + '-';
}

http_probe& silent_probe() {
    static http_probe silent;
    return silent;
}

}  // namespace

std::string server_state::strict_transport_of(const http_options& options) {
    const auto age = std::chrono::floor<std::chrono::seconds>(options.hsts_max_age).count();
    return age > 0 ? "max-age=" + std::to_string(age) : std::string();
}

bool server_state::trusts(const address_bytes& peer) const {
    return std::any_of(options.trusted_proxies.begin(), options.trusted_proxies.end(),
                       [&](const address_block& block) { return block.contains(peer); });
}

std::size_t server_state::count_of(const address_bytes& address) const {
    const auto found = by_address.find(address);
    return found == by_address.end() ? 0 : found->second;
}

session* server_state::least_needed(const std::optional<address_bytes>& of) const {
    const auto oldest = [&](session::need needed, const std::optional<payer>& paid_by) {
        session* found = nullptr;
        for (session* s : sessions) {
            if (s->needed() != needed || (of && s->peer() != of)) continue;
            if (paid_by && s->paid_by() != paid_by) continue;
            if (!found || s->waits_since() < found->waits_since()) found = s;
        }
        return found;
    };
    if (session* const idle = oldest(session::need::idle, std::nullopt)) return idle;
    // An account with one follower keeps it, however many others have, and however often they
    // reconnect.
    std::unordered_map<payer, std::size_t> followed_by;
    std::optional<payer> most;
    for (const session* s : sessions) {
        if (s->needed() != session::need::on_its_way || (of && s->peer() != of)) continue;
        const std::size_t own = ++followed_by[s->paid_by()];
        if (!most || own > followed_by[*most]) most = s->paid_by();
    }
    return most ? oldest(session::need::on_its_way, most) : nullptr;
}

std::string server_state::draw_id() {
    std::array<char, 16> digits;
    const char* end = std::to_chars(digits.begin(), digits.end(), ++ids_drawn, 16).ptr;
    std::string id = id_prefix;
    id.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
    return id;
}

// The coroutines are static and share the server by their first argument.
class http_server::impl : public std::enable_shared_from_this<http_server::impl> {
  public:
    impl(asio::any_io_executor executor, const tcp::endpoint& listen, server_state state)
        : executor_(std::move(executor)),
          acceptor_(listen_on(executor_, listen,
                              [](milliseconds pause) { std::this_thread::sleep_for(pause); })),
          accept_timer_(executor_),
          watchdog_(executor_),
          drain_timer_(executor_),
          state_(std::move(state)),
          tick_(tick_of(state_.options)) {
        state_.id_prefix = make_id_prefix();
        state_.sessions_changed = [this](bool any) { any ? watch() : rest(); };
    }

    tcp::endpoint local_endpoint() const { return acceptor_.local_endpoint(); }

    static asio::awaitable<void> run(std::shared_ptr<impl> self);
    static asio::awaitable<void> serve(std::shared_ptr<impl> self, tcp::socket socket,
                                       address_bytes from, std::optional<address_bytes> peer);
    static asio::awaitable<void> turn_away(std::shared_ptr<impl> self, tcp::socket socket,
                                           address_bytes from);
    static asio::awaitable<void> drained(std::shared_ptr<impl> self, milliseconds timeout);

    void use_certificate(std::shared_ptr<asio::ssl::context> tls) {
        state_.options.tls = std::move(tls);
    }
    void stop();
    void abandon();
    const std::shared_ptr<body_budget>& bodies() const noexcept { return state_.bodies; }

  private:
    void admit(const std::shared_ptr<impl>& self, tcp::socket socket);
    bool make_room(const std::optional<address_bytes>& peer);
    void watch();
    void rest();
    void cut_off_all();

    asio::any_io_executor executor_;
    tcp::acceptor acceptor_;
    asio::steady_timer accept_timer_;
    asio::steady_timer watchdog_;
    asio::steady_timer drain_timer_;
    server_state state_;
    milliseconds tick_;
};

asio::awaitable<void> http_server::impl::run(std::shared_ptr<impl> self) {
    while (!self->state_.stopping) {
        auto [error, socket] = co_await self->acceptor_.async_accept(use_result);
        if (!error) {
            self->admit(self, std::move(socket));
        } else if (error == asio::error::connection_aborted) {
            continue;  // the client disconnected before the accept
        } else if (!self->state_.stopping) {
            self->accept_timer_.expires_after(accept_pause);
            co_await self->accept_timer_.async_wait(use_result);
        }
    }
}

void http_server::impl::admit(const std::shared_ptr<impl>& self, tcp::socket socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    // Makes a client that reads slowly noticeable before megabytes are in the kernel.
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes_max,
                 sizeof unsent_bytes_max);
    error_code gone;
    const tcp::endpoint from = socket.remote_endpoint(gone);
    if (gone) return;
    const address_bytes address = to_bytes(from.address());
    std::optional<address_bytes> peer;
    if (!state_.trusts(address)) peer = counted_as(address);
    if (make_room(peer)) {
        asio::co_spawn(executor_, serve(self, std::move(socket), address, peer), asio::detached);
        return;
    }
    state_.probe->connection_rejected();
    // With TLS it is just closed: a response would need a handshake, which is the most expensive
    // part.
    if (!state_.options.tls && state_.turned_away < turned_away_max) {
        asio::co_spawn(executor_, turn_away(self, std::move(socket), address), asio::detached);
    }
}

// An evicted connection is counted until its coroutine has ended; so each new one evicts one.
bool http_server::impl::make_room(const std::optional<address_bytes>& peer) {
    const http_options& o = state_.options;
    const bool address_full = peer && state_.count_of(*peer) >= o.connections_per_address_max;
    const bool full = state_.sessions.size() - state_.turned_away >= o.connections_max;
    if (!address_full && !full) return true;
    session* const least = state_.least_needed(address_full ? peer : std::nullopt);
    if (!least) return false;
    least->displace();
    return true;
}

asio::awaitable<void> http_server::impl::serve(std::shared_ptr<impl> self, tcp::socket socket,
                                               address_bytes from,
                                               std::optional<address_bytes> peer) {
    std::string failure;
    try {
        session s(self->state_, std::move(socket), from, peer);
        co_await s.serve();
    } catch (const std::exception& e) {
        failure = e.what();
    }
    if (!failure.empty()) self->state_.probe->session_failed(failure);
}

asio::awaitable<void> http_server::impl::turn_away(std::shared_ptr<impl> self, tcp::socket socket,
                                                   address_bytes from) {
    std::string failure;
    try {
        session s(self->state_, std::move(socket), from, std::nullopt);
        co_await s.turn_away();
    } catch (const std::exception& e) {
        failure = e.what();
    }
    if (!failure.empty()) self->state_.probe->session_failed(failure);
}

// ---- the watchdog: one timer for the deadlines of all sessions ----

void http_server::impl::watch() {
    watchdog_.expires_after(tick_);
    // Weak: a tick may fire just as the last session, and with it the server, is destroyed.
    watchdog_.async_wait([weak = weak_from_this()](const error_code& error) {
        const std::shared_ptr<impl> self = weak.lock();
        if (error || !self) return;
        const auto now = self->state_.now();
        for (session* s : self->state_.sessions) s->check_deadline(now);
        if (!self->state_.sessions.empty()) self->watch();
    });
}

void http_server::impl::rest() {
    watchdog_.cancel();
    drain_timer_.cancel();
}

// ---- shutdown ----

void http_server::impl::stop() {
    if (std::exchange(state_.stopping, true)) return;
    error_code ignored;
    acceptor_.close(ignored);
    accept_timer_.cancel();
    for (session* s : state_.sessions) s->prepare_to_stop();
}

asio::awaitable<void> http_server::impl::drained(std::shared_ptr<impl> self, milliseconds timeout) {
    self->drain_timer_.expires_after(timeout);
    while (!self->state_.sessions.empty()) {
        const auto [error] = co_await self->drain_timer_.async_wait(use_result);
        if (!error) break;
    }
    self->cut_off_all();
}

void http_server::impl::cut_off_all() {
    for (session* s : state_.sessions) s->cut_off();
}

// The server object is being destroyed. Sessions whose handler has not returned may outlive it;
// their sockets are closed, and their events go to a silent probe.
void http_server::impl::abandon() {
    stop();
    cut_off_all();
    state_.abandoned = true;
    state_.probe = &silent_probe();
    state_.hooks = {};
}

http_server::http_server(asio::any_io_executor executor, const tcp::endpoint& listen,
                         http_options options, http_handler handler, http_rejection rejection,
                         http_probe& probe, http_hooks hooks)
    : impl_(std::make_shared<impl>(std::move(executor), listen,
                                   server_state{std::move(options), std::move(handler),
                                                std::move(rejection), &probe, std::move(hooks)})) {}

http_server::~http_server() {
    impl_->abandon();
}

tcp::endpoint http_server::local_endpoint() const {
    return impl_->local_endpoint();
}

const std::shared_ptr<body_budget>& http_server::bodies() const noexcept {
    return impl_->bodies();
}

asio::awaitable<void> http_server::run() {
    return impl::run(impl_);
}

void http_server::use_certificate(std::shared_ptr<asio::ssl::context> tls) {
    impl_->use_certificate(std::move(tls));
}

void http_server::stop() {
    impl_->stop();
}

asio::awaitable<void> http_server::drained(milliseconds timeout) {
    return impl::drained(impl_, timeout);
}

}  // namespace callsign::net
