#pragma once
// Processes requests: the route table, authorisation, and thin handlers that decode, await the
// engine once, and encode. Uses no sockets: tests and the simulator call handle() directly.
//
// Threads: the network executor.

#include <callsign/api/api_options.hpp>
#include <callsign/api/feed_options.hpp>
#include <callsign/api/sync_options.hpp>
#include <callsign/api/web_options.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/jobs/backups.hpp>
#include <callsign/jobs/remote_accounts.hpp>
#include <callsign/jobs/resealing.hpp>
#include <callsign/jobs/webhook_options.hpp>
#include <callsign/net/http.hpp>
#include <callsign/net/outgoing.hpp>
#include <callsign/reaper/reaper.hpp>
#include <callsign/seal/key_ring.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace callsign::api {

// Support for remote accounts. Without an outbox there are none.
struct remote_support {
    callsign::outbox* outbox = nullptr;  // must outlive the service
    jobs::sink_opener open{};
};

struct service_options {
    // Tokens that are cached with their owner, and as many client IDs. Others are read from the
    // store each time.
    std::size_t principals_max = 16'384;
    sync_options sync{};
    api_options api{};
    feed_options feed{};
    jobs::webhook_options webhooks{};
    web_options web{};
    remote_support remote{};
    backup_files backups{};  // empty: no backups can be made
    // Encrypts devices' keys. Null: no device can be added to a managed account. Shared with the
    // configuration; never modified.
    std::shared_ptr<const seal::key_ring> master_key{};
};

// Functions of the ops routes.
struct service_hooks {
    std::function<std::string()> metrics{};  // Prometheus text format; none: not served
};

class service {
  public:
    class impl;
    service(engine& engine, reaper& reaper, clock& clock, entropy& entropy, service_options options,
            service_hooks hooks);
    ~service();
    service(const service&) = delete;
    service& operator=(const service&) = delete;

    // Never throws for input.
    boost::asio::awaitable<net::http_response> handle(net::http_request request);

    // Decides whether a request may send its body. `head`: the request without it. A request that
    // handle() would reject regardless of its body is rejected here, with the same response.
    boost::asio::awaitable<net::admission> admit(net::http_request head);

    // Adds to any response what depends on its request alone (net::http_hooks::complete); handle()
    // and admit() leave that out.
    void complete(const net::http_header& request, net::http_response& answer) const;

    // Returns the limit of a request's body: `usual_bytes_max`, but more for segments and
    // snapshots, and less where the body is ignored.
    net::body_limits body_limits_of(const net::http_header& header,
                                    std::size_t usual_bytes_max) const;

    // Re-encrypts secrets with the current master key. Requires: a master key. Errors as
    // engine::submit.
    boost::asio::awaitable<result<jobs::resealed>> reseal_secrets();

    // Cleans up after conversions that an earlier run did not finish; returns how many. Requires:
    // no request was processed yet. Errors as engine::submit.
    boost::asio::awaitable<result<std::int64_t>> finish_conversions();

    // Returns whether the master key decrypts the devices' keys (one of them is tried), or there
    // are none, so that operators learn of a wrong key before devices do. True if the store fails.
    boost::asio::awaitable<bool> can_decrypt_devices();

    std::size_t follower_count() const noexcept;
    // Ends all followers. Call before the HTTP server stops.
    void stop_followers();

    // Starts the delivery of webhooks. `calls` must outlive the service. Bodies are charged to
    // `bodies`.
    void start_webhooks(net::outgoing& calls, std::shared_ptr<net::body_budget> bodies,
                        const boost::asio::any_io_executor& executor);
    // Cuts off deliveries in progress; they are repeated after the next start.
    boost::asio::awaitable<void> stop_webhooks();
    jobs::delivery_counts webhook_deliveries() const noexcept;

    jobs::backups& backups() noexcept;

  private:
    std::unique_ptr<impl> impl_;
};

// Returns an RFC 9457 problem for a rejection by net.
net::http_response rejection(const net::rejected_request& rejected);

// Generates a token: "cs_" and 43 characters of base64url, 256 bits. Only its SHA-256 is stored.
std::string make_token(entropy& source);

}  // namespace callsign::api
