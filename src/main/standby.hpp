#pragma once
// A server while another one owns the store: it watches the batch log, and takes the store over
// when the owner has stopped or is silent. Meanwhile it listens, and responds 503 to all requests
// but /livez and /metrics, so that load balancers leave it alone.

#include "one_thread.hpp"
#include "setup/config.hpp"
#include "setup/kept_text.hpp"
#include "setup/listen_file.hpp"
#include "setup/metrics.hpp"

#include <callsign/net/http.hpp>
#include <callsign/platform/log.hpp>
#include <callsign/platform/service_manager.hpp>
#include <callsign/ports/clock.hpp>
#include <callsign/store/postgres.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <memory>
#include <optional>
#include <string>

namespace callsign {

class standby {
  public:
    // `config` outlives it; server.listen becomes the address that it listened on. `clock` outlives
    // the store. Throws std::runtime_error: the options are invalid.
    standby(setup::config& config, const setup::config_source& source, clock& clock);

    // Returns the store once this server owns it; null: a signal ended the wait. Throws
    // std::runtime_error with a message for the operator.
    std::unique_ptr<store> run();

  private:
    struct sight {
        std::unique_ptr<store> taken{};
        std::string error{};  // the database does not respond
        std::optional<log_row> last{};
    };

    void spawn(boost::asio::awaitable<void> work);
    boost::asio::awaitable<void> wait_for_store();
    boost::asio::awaitable<sight> look();
    boost::asio::awaitable<void> wait_for_signal();
    void listen();
    void note(const sight& seen);
    boost::asio::awaitable<net::http_response> respond(net::http_request request);
    const std::string& metrics_text();

    setup::config& config_;
    clock& clock_;
    std::unique_ptr<platform::logger> log_;
    platform::service_manager manager_;
    boost::asio::io_context network_{1};
    boost::asio::signal_set signals_;
    std::unique_ptr<timer> timer_;
    net::http_probe unobserved_;
    setup::metrics metrics_;
    setup::kept_text metrics_text_;
    std::unique_ptr<net::http_server> http_;
    std::unique_ptr<net::http_server> metrics_http_;  // null: /metrics is served by http_
    std::optional<setup::listen_file> listen_file_;
    std::unique_ptr<standby_store> database_;
    std::unique_ptr<store> store_;
    bool is_ended_ = false;
    std::string told_;   // the last state that was logged
    one_thread worker_;  // looks at the database, which may take seconds
};

}  // namespace callsign
