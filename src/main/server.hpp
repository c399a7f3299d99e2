#pragma once
// The server: what it is built of, in order, as members that are destroyed in reverse order.
//
// Threads: this one for the network, one for the writer, one that makes its commits durable, and a
// few each for readers, offloaded work and DNS look-ups.

#include "logging_probes.hpp"
#include "one_thread.hpp"
#include "request_log.hpp"
#include "setup/changed_keys.hpp"
#include "setup/config.hpp"
#include "setup/kept_text.hpp"
#include "setup/listen_file.hpp"
#include "setup/metrics.hpp"
#include "watchdog.hpp"

#include <callsign/api/service.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/outbox.hpp>
#include <callsign/net/http.hpp>
#include <callsign/net/outgoing.hpp>
#include <callsign/platform/log.hpp>
#include <callsign/platform/real.hpp>
#include <callsign/platform/service_manager.hpp>
#include <callsign/reaper/reaper.hpp>
#include <callsign/remote/task_sink.hpp>
#include <callsign/store/sqlite.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

namespace callsign {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using asio::ip::tcp;
using platform::log_level;

inline constexpr int exit_fatal = 70;  // EX_SOFTWARE: to be restarted

class server {
  public:
    // `files_max`: limit of open files; 0: unknown. `exit_code` outlives the server, and is set
    // when the process should be restarted. `shared`: the store, if it is not in the data
    // directory.
    server(setup::config config, setup::config_source source, std::size_t files_max, int& exit_code,
           std::unique_ptr<store> shared);
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
    std::function<std::string()> metrics_hook();
    const std::string& metrics_text();
    std::string fresh_metrics();
    bool is_ready() const;
    asio::awaitable<void> start_and_stop();
    asio::awaitable<std::string> prepare();
    asio::awaitable<void> hold_after_loss();
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
    std::unique_ptr<store> store_;
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
    std::unique_ptr<net::http_server> metrics_http_;
    std::optional<setup::listen_file> listen_file_;
};

}  // namespace callsign
