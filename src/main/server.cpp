// callsignd: the composition root. Builds the modules in order, as members that are destroyed in
// reverse order, and connects them.
//
// Threads: this one for the network, one for the writer, one that makes its commits durable, and a
// few each for readers, offloaded work and DNS look-ups.

#include "logging_probes.hpp"
#include "no_dumps.hpp"
#include "one_thread.hpp"
#include "setup/changed_keys.hpp"
#include "setup/command_line.hpp"
#include "setup/config.hpp"
#include "setup/environment_names.hpp"
#include "setup/first_start.hpp"
#include "setup/kept_text.hpp"
#include "setup/listen_address.hpp"
#include "setup/listen_file.hpp"
#include "setup/metrics.hpp"
#include "setup/open_files.hpp"
#include "setup/process_readings.hpp"
#include "watchdog.hpp"

#include <callsign/api/service.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/net/http.hpp>
#include <callsign/platform/log.hpp>
#include <callsign/platform/real.hpp>
#include <callsign/platform/service_manager.hpp>
#include <callsign/reaper/reaper.hpp>
#include <callsign/remote/task_sink.hpp>
#include <callsign/seal/at_rest.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <variant>

namespace callsign {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using asio::ip::tcp;
using platform::log_level;

constexpr int exit_cannot_start = 1;
constexpr int exit_fatal = 70;  // EX_SOFTWARE: to be restarted

// Automatic renewal happens long before this.
constexpr std::chrono::days expiry_noticed{7};

constexpr auto use_result = asio::as_tuple(asio::use_awaitable);

class server {
  public:
    // `files_max`: limit of open files; 0: unknown. `exit_code` outlives the server, and is set
    // when the process should be restarted.
    server(setup::config config, setup::config_source source, std::size_t files_max,
           int& exit_code);
    // Joins the threads before the members that they use are destroyed.
    ~server() {
        readers_.join();
        offload_.join();
        lookups_.join();
        writer_.join();
        sync_.join();
    }
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    // Runs until a signal ends it.
    void run();

  private:
    void fit_connections(std::size_t files_max);
    std::unique_ptr<store> open_store();
    std::unique_ptr<task_sink> open_sink(const remote_chain& r);
    asio::awaitable<boost::system::error_code> offload(claim asks, std::function<void()> work);
    void log_backup(const fs::path& dir, const jobs::backup_answer& done);
    net::http_server listen();
    std::optional<net::http_server> listen_for_metrics();
    std::function<std::string()> metrics_hook();
    const std::string& metrics_text();
    std::string fresh_metrics();
    asio::awaitable<net::http_response> show_metrics(net::http_request request);
    bool is_ready() const;
    asio::awaitable<void> start_and_stop();
    asio::awaitable<std::string> prepare();
    asio::awaitable<void> reseal();
    asio::awaitable<void> finish_conversions();
    void announce(const std::string& welcome_text);
    asio::awaitable<void> wait_for_end();
    asio::awaitable<void> stop();
    void reload();
    bool can_reload(const setup::config& fresh);
    void warn_of_expiry();
    void check_told(std::error_code error);
    void exit_fatally(const std::string& why);
    void spawn(asio::awaitable<void> work);

    bool speaks_tls() const noexcept { return config_.http.tls != nullptr; }
    // An https URL means that a TLS proxy is in front of the server.
    bool is_behind_tls() const { return config_.api.public_url.starts_with("https://"); }
    fs::path admin_token_file() const { return config_.store.data_dir / "admin.token"; }

    int& exit_code_;
    setup::config config_;
    setup::config_source source_;
    // The configured values, whatever was adjusted since.
    setup::key_values told_ = setup::values_of(config_);
    current_logger log_ = platform::make_logger(config_.log);
    setup::metrics metrics_;
    setup::kept_text metrics_text_;
    sweep_log sweep_log_{log_, metrics_.reaper()};
    request_log request_log_{log_, metrics_.http(), config_.log};
    write_log write_log_{log_, metrics_.engine()};
    remote_log remote_log_{log_, metrics_.outbox()};
    std::unique_ptr<clock> clock_ = platform::make_real_clock();
    std::unique_ptr<entropy> entropy_ = platform::make_real_entropy();
    platform::service_manager manager_{source_.environment};

    asio::io_context network_{1};
    asio::signal_set signals_{network_, SIGTERM, SIGINT, SIGHUP};
    asio::steady_timer last_words_{network_};
    std::unique_ptr<store> store_ = open_store();
    asio::thread_pool readers_{config_.store.readers};
    asio::thread_pool offload_{config_.engine.offload_threads};
    asio::thread_pool lookups_{config_.webhooks.options.lookup_threads};
    std::unique_ptr<net::outgoing> outgoing_ = net::make_outgoing(
        network_.get_executor(), lookups_.get_executor(), config_.webhooks.calls);
    one_thread writer_;
    one_thread sync_;
    watchdog watchdog_{manager_, *clock_, network_.get_executor(), writer_.executor(),
                       sync_.executor()};
    engine engine_;
    remote::sinks sinks_;
    outbox outbox_;
    reaper reaper_;
    api::service service_;
    net::http_server http_;
    net::http_probe unobserved_;
    // Own listener of /metrics, if it has one.
    std::optional<net::http_server> metrics_http_;
    std::optional<setup::listen_file> listen_file_;
};

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

server::server(setup::config config, setup::config_source source, std::size_t files_max,
               int& exit_code)
    : exit_code_(exit_code),
      config_(std::move(config)),
      source_(std::move(source)),
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
      metrics_http_(listen_for_metrics()) {
    engine_.set_remote_editor(outbox_);
    reaper_.use_outbox(outbox_);
}

// Returns null if the master key is missing or wrong.
std::unique_ptr<task_sink> server::open_sink(const remote_chain& r) {
    if (!config_.secrets.master_key) return nullptr;
    const seal::belongs_to owner{seal::purpose::remote_key, account_id{}, r.client_id};
    const auto opened = config_.secrets.master_key->open(owner, r.sealed_key);
    const auto* const secret = std::get_if<seal::secret_bytes>(&opened);
    if (!secret || secret->size() != seal::key_bytes) return nullptr;
    auto key = std::make_shared<const seal::key>(secret->bytes().first<seal::key_bytes>());
    return sinks_.open(r.account, r.url, r.client_id, std::move(key));
}

asio::awaitable<boost::system::error_code> server::offload(claim asks, std::function<void()> work) {
    auto run = [&work] {
        work();
        return std::monostate{};
    };
    const auto done = co_await engine_.offload(asks, std::move(run));
    co_return done ? boost::system::error_code{} : done.error();
}

std::unique_ptr<store> server::open_store() {
    sqlite_options options = config_.store;
    options.lost_at_close = [this] {
        exit_code_ = exit_fatal;
        log_->log(log_level::error, "fatal: WAL sync failed; the WAL is kept for the next start",
                  {});
    };
    return open_sqlite(options);
}

void server::log_backup(const fs::path& dir, const jobs::backup_answer& done) {
    if (const auto* const failed = std::get_if<jobs::backup_failed>(&done)) {
        log_->log(log_level::error, "backup failed",
                  {{"directory", dir.string()}, {"error", failed->why}});
    } else {
        const auto& made = std::get<backup_manifest>(done);
        log_->log(log_level::info, "backup created",
                  {{"directory", dir.string()}, {"bytes", std::to_string(made.bytes)}});
    }
}

// Fewer connections, with idle ones evicted, are better than connections that cannot be accepted.
void server::fit_connections(std::size_t files_max) {
    if (files_max == 0) return;
    std::size_t& wanted = config_.http.connections_max;
    const std::size_t possible = setup::connections_possible(files_max);
    const bool too_few = possible < wanted;
    if (too_few) wanted = possible;
    log_->log(
        too_few ? log_level::warn : log_level::info,
        too_few ? "open file limit allows fewer connections than configured"
                : "limit of open files",
        {{"open_files", std::to_string(files_max)}, {"connections_max", std::to_string(wanted)}});
}

net::http_server server::listen() {
    const std::string& where = config_.server.listen;
    try {
        net::http_options options = config_.http;
        options.behind_tls = is_behind_tls();
        return net::http_server(
            network_.get_executor(), setup::to_endpoint(where), std::move(options),
            [this](net::http_request request) { return service_.handle(std::move(request)); },
            api::refusal, request_log_,
            {.admit = [this](net::http_request head) { return service_.admit(std::move(head)); },
             .body_limits_of =
                 [this](const net::http_header& header) {
                     return service_.body_limits_of(header, config_.http.body_bytes_max);
                 },
             .complete = [this](
                             const net::http_header& header,
                             net::http_response& answer) { service_.complete(header, answer); }});
    } catch (const boost::system::system_error& e) {
        throw std::runtime_error("cannot listen on " + where + ": " + e.code().message());
    }
}

std::optional<net::http_server> server::listen_for_metrics() {
    const std::string& where = config_.metrics.listen;
    if (where.empty()) return std::nullopt;
    // Limits for a few scrapers.
    const net::http_options few{.body_bytes_max = 1u << 10,
                                .bodies_bytes_max = 16u << 20,
                                .account_bodies_bytes_max = 16u << 20,
                                .connections_max = 16,
                                .connections_per_address_max = 16};
    try {
        return std::optional<net::http_server>(
            std::in_place, network_.get_executor(), setup::to_endpoint(where), few,
            [this](net::http_request request) { return show_metrics(std::move(request)); },
            api::refusal, unobserved_);
    } catch (const boost::system::system_error& e) {
        throw std::runtime_error("cannot listen on " + where + ": " + e.code().message());
    }
}

asio::awaitable<net::http_response> server::show_metrics(net::http_request request) {
    using boost::beast::http::verb;
    const bool is_get = request.method() == verb::get || request.method() == verb::head;
    if (!is_get || request.path() != "/metrics") {
        const net::refused_request elsewhere{404, "no-such-path",
                                             "This listener serves /metrics only.", request.id};
        co_return api::refusal(elsewhere);
    }
    net::http_response response;
    response.content_type = "text/plain; version=0.0.4";
    response.body = metrics_text();
    co_return response;
}

// Returns none if /metrics has its own listener.
std::function<std::string()> server::metrics_hook() {
    if (!config_.metrics.listen.empty()) return {};
    return [this] { return metrics_text(); };
}

const std::string& server::metrics_text() {
    return metrics_text_.get(clock_->elapsed(), [this] { return fresh_metrics(); });
}

std::string server::fresh_metrics() {
    metrics_.bodies_held(http_.bodies()->held());
    metrics_.followers(service_.follower_count());
    metrics_.webhooks(service_.webhook_deliveries());
    metrics_.remotes(outbox_.totals());
    const milliseconds every =
        config_.backup.directory.empty() ? milliseconds{} : config_.backup.every;
    metrics_.backups(service_.backups().tally(), every);
    metrics_.space(space_of(config_.store.data_dir));
    metrics_.process(setup::read_process());
    metrics_.ready(is_ready());
    return metrics_.text();
}

// Returns whether /readyz returns 200.
bool server::is_ready() const {
    return engine_.accepting() && !engine_.write_failure();
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
    const std::string welcome_text = co_await prepare();
    spawn(http_.run());
    if (metrics_http_) spawn(metrics_http_->run());
    spawn(engine_.watch_writes());
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

// Prepares what the first request needs. Returns the text for a first start, if this is one.
asio::awaitable<std::string> server::prepare() {
    fs::path token_file = admin_token_file();
    co_await setup::ensure_admin_token(engine_, *entropy_, std::move(token_file));
    const auto found = co_await outbox_.start();
    if (!found) throw std::runtime_error("cannot read the accounts: " + found.error().message());
    const auto account_token = co_await setup::ensure_account(engine_, *entropy_);
    co_await reseal();
    co_await finish_conversions();
    const bool opens = co_await service_.can_decrypt_devices();
    if (!opens) {
        log_->log(log_level::warn, "master key missing or wrong; devices cannot sync",
                  {{"setting", "secrets.master_key_file"}});
    }
    if (!account_token) co_return std::string();
    const std::string& known = config_.api.public_url;
    const std::string url =
        known.empty() ? setup::local_url(http_.local_endpoint(), speaks_tls()) : known;
    co_return setup::welcome(url, *account_token, admin_token_file());
}

// Re-encrypts secrets of a former master key with the current one. This takes some milliseconds for
// a thousand secrets, and is retried at the next start.
asio::awaitable<void> server::reseal() {
    if (!config_.secrets.master_key || config_.secrets.master_key->former() == 0) co_return;
    const auto done = co_await service_.reseal_secrets();
    if (!done) {
        log_->log(log_level::warn, "secrets not re-encrypted", {{"error", done.error().message()}});
        co_return;
    }
    log_->log(log_level::info, "secrets re-encrypted with the current master key",
              {{"resealed", std::to_string(done->resealed)},
               {"current", std::to_string(done->current)},
               {"unopened", std::to_string(done->unopened)}});
}

asio::awaitable<void> server::finish_conversions() {
    const auto done = co_await service_.finish_conversions();
    if (!done) {
        log_->log(log_level::warn,
                  "interrupted conversions not cleaned up; retrying at the next start",
                  {{"error", done.error().message()}});
    } else if (*done > 0) {
        log_->log(log_level::info, "interrupted conversions cleaned up",
                  {{"accounts", std::to_string(*done)}});
    }
}

void server::announce(const std::string& welcome_text) {
    const tcp::endpoint at = http_.local_endpoint();
    const std::string url = setup::to_url(at.address(), at.port(), speaks_tls());
    try {
        listen_file_.emplace(config_.store.data_dir / "listen.url",
                             setup::local_url(at, speaks_tls()));
    } catch (const std::system_error& e) {
        // With a full disk, stored data can still be read.
        log_->log(log_level::warn, "listen.url not written; callsign needs --url",
                  {{"error", e.what()}});
    }
    std::cout << welcome_text << "callsignd listening on " << url << std::endl;
    log_->log(log_level::info, "started",
              {{"version", CALLSIGN_VERSION},
               {"url", url},
               {"data_dir", config_.store.data_dir.string()}});
    if (metrics_http_) {
        const tcp::endpoint metrics_at = metrics_http_->local_endpoint();
        log_->log(
            log_level::info, "metrics listener started",
            {{"url", setup::to_url(metrics_at.address(), metrics_at.port(), false) + "/metrics"}});
    }
    if (!speaks_tls() && !is_behind_tls() && !at.address().is_loopback()) {
        log_->log(log_level::warn, "unencrypted listener on a non-loopback address; enable TLS",
                  {{"listen", config_.server.listen},
                   {"settings", "tls.certificate, or server.public_url of a proxy with TLS"}});
    }
    warn_of_expiry();
    for (const setup::unknown_name& each : setup::unknown_names(source_.variables)) {
        log_->log(log_level::warn, "unknown environment variable; ignored",
                  {{"name", each.name}, {"nearest", each.nearest.empty() ? "-" : each.nearest}});
    }
    if (const sqlite_release sqlite = sqlite_in_use(); sqlite.loses_pages) {
        log_->log(log_level::debug,
                  "SQLite with the WAL-reset bug; only one connection writes and checkpoints",
                  {{"version", sqlite.version}});
    }
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

void server::check_told(std::error_code error) {
    if (!error) return;
    log_->log(log_level::warn, "service manager not notified", {{"error", error.message()}});
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

void server::reload() {
    auto loaded = setup::load_config(source_);
    if (const auto* faults = std::get_if<std::vector<setup::config_fault>>(&loaded)) {
        for (const setup::config_fault& fault : *faults) {
            log_->log(log_level::error, "configuration error",
                      {{"where", fault.where}, {"text", fault.text}});
        }
        log_->log(log_level::error, "configuration reload rejected; settings unchanged",
                  {{"faults", std::to_string(faults->size())}});
        return;
    }
    const auto& fresh = std::get<setup::config>(loaded);
    if (!can_reload(fresh)) return;
    const setup::changed_keys changed = setup::take_changes(told_, fresh);
    config_.tls = fresh.tls;
    config_.http.tls = fresh.http.tls;
    if (speaks_tls()) http_.use_certificate(config_.http.tls);
    config_.reaper = fresh.reaper;
    config_.log.level = fresh.log.level;
    config_.log.requests = fresh.log.requests;
    config_.remote.options = fresh.remote.options;
    reaper_.reload(config_.reaper);
    outbox_.reload(config_.remote.options);
    log_ = platform::make_logger(config_.log);
    log_->log(
        log_level::info, "configuration reloaded",
        {{"window", config_.reaper.window ? to_duration_text(*config_.reaper.window) : "auto"},
         {"interval", to_duration_text(config_.reaper.interval)},
         {"retention", to_duration_text(config_.reaper.retention)},
         {"log_level", config_.log.level},
         {"certificate_expires", speaks_tls() ? to_rfc3339(config_.tls.expires) : "none"},
         {"changed", setup::list_of(changed.in_force)}});
    if (!changed.after_restart.empty()) {
        log_->log(log_level::warn, "changed settings need a restart",
                  {{"keys", setup::list_of(changed.after_restart)}});
    }
    warn_of_expiry();
}

// Each file is valid by itself. Returns whether they may replace the current ones.
bool server::can_reload(const setup::config& fresh) {
    std::string why;
    if (speaks_tls() != (fresh.http.tls != nullptr)) {
        why = "turning TLS on or off needs a restart";
    } else if (speaks_tls() && fresh.tls.expires <= clock_->now() &&
               fresh.tls.expires < config_.tls.expires) {
        why = "the certificate expired at " + to_rfc3339(fresh.tls.expires);
    }
    if (why.empty()) return true;
    log_->log(log_level::error, "configuration reload rejected; settings unchanged",
              {{"error", why}});
    return false;
}

void server::warn_of_expiry() {
    if (!speaks_tls() || config_.tls.expires - clock_->now() > expiry_noticed) return;
    log_->log(log_level::warn,
              "TLS certificate expired or expires within 7 days; renew, then send SIGHUP",
              {{"expires", to_rfc3339(config_.tls.expires)},
               {"certificate", config_.tls.certificate.string()}});
}

// The supervisor restarts the process, and the store's recovery decides what is durable. The
// requests concerned have been answered; the delay is for the kernel to send the responses.
void server::exit_fatally(const std::string& why) {
    exit_code_ = exit_fatal;
    log_->log(log_level::error, "fatal: the store must be reopened; exiting", {{"error", why}});
    last_words_.expires_after(std::chrono::milliseconds{50});
    last_words_.async_wait([](const boost::system::error_code&) { std::_Exit(exit_fatal); });
}

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
    server(std::get<setup::config>(std::move(loaded)), std::move(given->source), files_max,
           exit_code)
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
