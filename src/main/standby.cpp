#include "standby.hpp"

#include "metrics_listener.hpp"
#include "setup/listen_address.hpp"
#include "setup/process_readings.hpp"

#include <callsign/api/service.hpp>
#include <callsign/platform/real.hpp>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace callsign {

namespace asio = boost::asio;
using platform::log_level;

namespace {

// An owner that stops is succeeded within this time.
constexpr milliseconds look_interval{250};

// For a few load balancers.
net::http_options few_connections(const net::http_options& configured) {
    return {.body_bytes_max = 1u << 10,
            .bodies_bytes_max = 16u << 20,
            .account_bodies_bytes_max = 16u << 20,
            .connections_max = std::min<std::size_t>(configured.connections_max, 256),
            .tls = configured.tls};
}

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
    return name.data();
}

std::string owner_of(const std::optional<log_row>& last) {
    return last ? to_string(last->owner) : "-";
}

}  // namespace

standby::standby(setup::config& config, const setup::config_source& source, clock& clock)
    : config_(config),
      clock_(clock),
      log_(platform::make_logger(config.log)),
      manager_(source.environment),
      signals_(network_, SIGTERM, SIGINT),
      timer_(clock.make_timer(network_.get_executor())) {
    postgres_options options = config.postgres;
    options.readers = config.store.readers;
    options.server = host_name() + " " + config.server.listen;
    metrics_.standby(true);
    database_ = open_postgres(std::move(options), clock, draw_uuid(*platform::make_real_entropy()));
}

std::unique_ptr<store> standby::run() {
    spawn(wait_for_store());
    spawn(wait_for_signal());
    network_.run();
    return std::move(store_);
}

void standby::spawn(asio::awaitable<void> work) {
    asio::co_spawn(network_, std::move(work), [](const std::exception_ptr& e) {
        if (e) std::rethrow_exception(e);
    });
}

asio::awaitable<void> standby::wait_for_store() {
    while (!is_ended_) {
        auto next = look();
        sight seen =
            co_await asio::co_spawn(worker_.executor(), std::move(next), asio::use_awaitable);
        if (seen.taken) {
            log_->log(log_level::info, "store taken over", {{"former_owner", owner_of(seen.last)}});
            store_ = std::move(seen.taken);
            break;
        }
        if (!http_ && !is_ended_) listen();
        note(seen);
        manager_.alive();
        if (!is_ended_) co_await timer_->wait(look_interval);
    }
    signals_.cancel();
    listen_file_.reset();  // before the port is released
    if (!http_) co_return;
    http_->stop();
    if (metrics_http_) metrics_http_->stop();
    co_await http_->drained(milliseconds{0});
    if (metrics_http_) co_await metrics_http_->drained(milliseconds{0});
}

// Worker's thread.
asio::awaitable<standby::sight> standby::look() {
    sight seen;
    try {
        const bool may = database_->look();
        seen.last = database_->last();
        if (may) seen.taken = database_->take_over();
    } catch (const store_failure& failure) {
        seen.error = failure.what();
    }
    co_return seen;
}

asio::awaitable<void> standby::wait_for_signal() {
    const auto [error, signal] = co_await signals_.async_wait(asio::as_tuple(asio::use_awaitable));
    if (error) co_return;
    log_->log(log_level::info, "stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
    is_ended_ = true;
    timer_->cancel();
}

// A server of a service manager is ready: it does what a standby does.
void standby::listen() {
    const std::string where = config_.server.listen;
    try {
        http_ = std::make_unique<net::http_server>(
            network_.get_executor(), setup::to_endpoint(where), few_connections(config_.http),
            [this](net::http_request request) { return respond(std::move(request)); },
            api::rejection, unobserved_);
    } catch (const boost::system::system_error& e) {
        throw std::runtime_error("cannot listen on " + where + ": " + e.code().message());
    }
    const auto at = http_->local_endpoint();
    // The server that follows listens on the same port.
    config_.server.listen =
        (at.address().is_v6() ? "[" + at.address().to_string() + "]" : at.address().to_string()) +
        ":" + std::to_string(at.port());
    metrics_http_ = listen_for_metrics(
        network_.get_executor(), config_.metrics.listen, [this] { return metrics_text(); },
        unobserved_);
    spawn(http_->run());
    if (metrics_http_) spawn(metrics_http_->run());
    setup::make_listen_file(listen_file_, config_.store.data_dir,
                            setup::local_url(at, config_.http.tls != nullptr), *log_);
    std::cout << "callsignd standing by on "
              << setup::to_url(at.address(), at.port(), config_.http.tls != nullptr) << std::endl;
    manager_.ready();
}

void standby::note(const sight& seen) {
    const std::string now = seen.error.empty() ? owner_of(seen.last) : "unreachable";
    if (now == told_) return;
    told_ = now;
    if (seen.error.empty()) {
        log_->log(log_level::info, "standing by; another server owns the store", {{"owner", now}});
    } else {
        log_->log(log_level::warn, "database not reachable; retrying", {{"error", seen.error}});
    }
}

const std::string& standby::metrics_text() {
    return metrics_text_.get(clock_.elapsed(), [this] {
        metrics_.process(setup::read_process());
        return metrics_.text();
    });
}

asio::awaitable<net::http_response> standby::respond(net::http_request request) {
    if (request.path() == "/livez") {
        net::http_response alive;
        alive.content_type = "text/plain; charset=utf-8";
        alive.body = "alive\n";
        co_return alive;
    }
    if (request.path() == "/metrics" && !metrics_http_) {
        co_return metrics_response(metrics_text());
    }
    const net::rejected_request rejected{
        503, "not-ready", "Another server owns the store; this one stands by.", request.id};
    co_return api::rejection(rejected);
}

}  // namespace callsign
