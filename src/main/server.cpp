// callsignd: the composition root. server.hpp has what it is built of; this file connects it,
// starts it and stops it.

#include "server.hpp"

#include "metrics_listener.hpp"
#include "no_dumps.hpp"
#include "setup/command_line.hpp"
#include "setup/open_files.hpp"
#include "standby.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <variant>

namespace callsign {
namespace {

constexpr int exit_cannot_start = 1;

constexpr auto use_result = asio::as_tuple(asio::use_awaitable);

backup_files backup_files_of() {
    return {
        .begin = begin_backup,
        .finish = [](const fs::path& dir,
                     time_point made_at) { return finish_backup(dir, made_at, CALLSIGN_VERSION); },
        .discard = discard_backup,
        .list = list_backups,
        .read = read_manifest};
}

// Settings that sync uses too are in its section.
engine_options engine_options_of(const setup::config& config) {
    engine_options options = config.engine;
    options.key_attribute = config.sync.key_attribute;
    options.synced_task_bytes_max = std::max(config.sync.segment_bytes_max, task_bytes_max);
    return options;
}

}  // namespace

server::server(setup::config config, setup::config_source source, std::size_t files_max,
               int& exit_code, std::unique_ptr<store> shared)
    : exit_code_(exit_code),
      config_(std::move(config)),
      source_(std::move(source)),
      store_(shared ? std::move(shared) : open_store()),
      engine_(*store_, *clock_, *entropy_,
              {.network = network_.get_executor(),
               .writer = writer_.executor(),
               .reader = readers_.get_executor(),
               .offload = offload_.get_executor(),
               .sync = sync_.executor(),
               .readers = config_.store.readers},
              engine_options_of(config_), write_log_,
              [this](const std::string& why) { exit_fatally(why); }),
      sinks_(
          network_.get_executor(),
          [this](claim asks, std::function<void()> work) { return offload(asks, std::move(work)); },
          *entropy_, config_.remote.calls),
      outbox_(
          engine_, *clock_, *entropy_, network_.get_executor(), config_.remote.options,
          [this](const remote_chain& r) { return open_sink(r); }, remote_log_),
      reaper_(engine_, *clock_, network_.get_executor(), config_.reaper, sweep_log_),
      service_(engine_, reaper_, *clock_, *entropy_,
               {.sync = config_.sync,
                .api = config_.api,
                .feed = config_.feed,
                .webhooks = config_.webhooks.options,
                .web = config_.web,
                .remote = {&outbox_,
                           [this](const std::string& url, const uuid& client_id,
                                  std::shared_ptr<const seal::key> key) {
                               // The account is not known yet, so operators are charged.
                               return sinks_.open(payer::operators(), url, client_id,
                                                  std::move(key));
                           }},
                .backups = backup_files_of(),
                .master_key = config_.secrets.master_key},
               {.metrics = metrics_hook()}),
      http_((fit_connections(files_max), listen())),
      metrics_http_(listen_for_metrics(
          network_.get_executor(), config_.metrics.listen, [this] { return metrics_text(); },
          unobserved_)) {
    engine_.set_remote_editor(outbox_);
    reaper_.use_outbox(outbox_);
}

void server::run() {
    spawn(start_and_stop());
    network_.run();
}

void server::spawn(asio::awaitable<void> work) {
    // An internal error of the server itself, not of a request: main reports it and exits.
    asio::co_spawn(network_, std::move(work), [](const std::exception_ptr& e) {
        if (e) std::rethrow_exception(e);
    });
}

asio::awaitable<void> server::start_and_stop() {
    // First, since preparing may take longer than another server waits for this one.
    spawn(engine_.watch_writes());
    const std::string welcome_text = co_await prepare();
    spawn(http_.run());
    if (metrics_http_) spawn(metrics_http_->run());
    spawn(reaper_.run());
    service_.start_webhooks(*outgoing_, http_.bodies(), network_.get_executor());
    spawn(service_.backups().run(
        network_.get_executor(), config_.backup,
        [this](const fs::path& dir, const jobs::backup_answer& done) { log_backup(dir, done); }));
    announce(welcome_text);
    check_told(manager_.ready());
    spawn(watchdog_.run());
    co_await wait_for_end();
    co_await stop();
}

asio::awaitable<void> server::wait_for_end() {
    for (;;) {
        const auto [error, signal] = co_await signals_.async_wait(use_result);
        if (error) co_return;
        if (signal != SIGHUP) {
            log_->log(log_level::info, "stopping",
                      {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
            co_return;
        }
        check_told(manager_.reloading());
        reload();
        check_told(manager_.ready());
    }
}

// Stops from outside to inside: no new requests, in-flight requests answered, then the queue, then
// the writer. The store runs a checkpoint when it is closed. A second signal has no handler and
// ends the process at once, which loses nothing that was acknowledged.
asio::awaitable<void> server::stop() {
    signals_.clear();
    check_told(manager_.stopping());
    watchdog_.stop();
    service_.stop_followers();
    listen_file_.reset();  // before the port is released
    http_.stop();
    if (metrics_http_) metrics_http_->stop();
    reaper_.stop();
    service_.backups().stop();
    outbox_.stop();
    co_await outbox_.stopped();
    co_await service_.stop_webhooks();
    co_await http_.drained(config_.server.drain_timeout);
    if (metrics_http_) co_await metrics_http_->drained(milliseconds{0});
    engine_.stop();
    co_await engine_.drained();
    log_->log(log_level::info, "stopped", {});
    network_.stop();
}

// The supervisor restarts the process, and the store's recovery decides what is durable. The
// requests concerned have been answered; the delay is for the kernel to send the responses.
void server::exit_fatally(const std::string& why) {
    exit_code_ = exit_fatal;
    log_->log(log_level::error, "fatal: the store must be reopened; exiting", {{"error", why}});
    last_words_.expires_after(std::chrono::milliseconds{50});
    last_words_.async_wait([](const boost::system::error_code&) { std::_Exit(exit_fatal); });
}

namespace {

void print(const std::vector<setup::config_fault>& faults) {
    for (const setup::config_fault& fault : faults) {
        std::cerr << fault.where << ": " << fault.text << "\n";
    }
}

int run(int argc, char** argv) {
    int exit_code = 0;
    auto given = setup::read_command_line(argc, argv, exit_code);
    if (!given) return exit_code;
    auto loaded = setup::load_config(given->source);
    if (const auto* faults = std::get_if<std::vector<setup::config_fault>>(&loaded)) {
        print(*faults);
        return setup::exit_bad_configuration;
    }
    if (given->check_config) {
        std::cout << "The configuration is valid.\n";
        return 0;
    }
    std::signal(SIGPIPE, SIG_IGN);
    const std::size_t files_max = setup::raise_open_files_limit();
    auto& config = std::get<setup::config>(loaded);
    const auto clock = platform::make_real_clock();
    std::unique_ptr<store> shared;
    if (!config.postgres.url.empty()) {
        prepare_data_dir(config.store.data_dir);
        shared = standby(config, given->source, *clock).run();
        if (!shared) return exit_code;
    }
    server(std::move(config), std::move(given->source), files_max, exit_code, std::move(shared))
        .run();
    return exit_code;
}

}  // namespace
}  // namespace callsign

int main(int argc, char** argv) {
    callsign::keep_out_of_dumps();
    // Before there are threads. By default a look-up waits 10 seconds for each name server without
    // a response, and cannot be cancelled.
    ::setenv("RES_OPTIONS", "timeout:2 attempts:2", 0);
    try {
        return callsign::run(argc, argv);
    } catch (const std::exception& e) {
        std::cerr << "callsignd: " << e.what() << "\n";
        return callsign::exit_cannot_start;
    }
}
