#pragma once
// Everything behind a request: the route table, who may call what, and thin handlers that decode,
// await the engine once, and encode. Knows no socket: tests and the simulator call handle()
// directly.
//
// Threads: the network executor.

#include <callsign/api/api_options.hpp>
#include <callsign/api/feed_options.hpp>
#include <callsign/api/sync_options.hpp>
#include <callsign/api/web_options.hpp>
#include <callsign/api/webhook_options.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/jobs/backups.hpp>
#include <callsign/jobs/remote_accounts.hpp>
#include <callsign/jobs/resealing.hpp>
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

// Accounts whose tasks live on another server. Without: there are none.
struct elsewhere_service {
    callsign::outbox* outbox = nullptr;  // outlives the service
    jobs::sink_opener open{};
};

struct service_options {
    // Tokens whose owner is kept in memory. Beyond it they are read from the store again.
    // Client ids too, as many again.
    std::size_t principals_max = 16'384;
    sync_options sync{};
    api_options api{};
    feed_options feed{};
    webhook_options webhooks{};
    web_options web{};
    elsewhere_service elsewhere{};
    backup_files backups{};  // empty: none can be made
    // What devices' keys are sealed under. None: no device is added to a managed account. Shared
    // with the configuration it comes from; nobody changes it.
    std::shared_ptr<const seal::key_ring> master_key{};
};

// What the ops routes show.
struct service_hooks {
    std::function<std::string()> metrics{};  // Prometheus text format; none: not to be had here
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

    // Whether a request may send the body that is still to come: `head` is all but that. What it
    // will be refused for whatever its body is, it is refused for here, with the same answer.
    boost::asio::awaitable<net::admission> admit(net::http_request head);

    // Adds to any answer what depends on its request alone (net::http_hooks::complete): handle()
    // and admit() leave that out.
    void complete(const net::http_header& request, net::http_response& answer) const;

    // How large the body of a request with this header may be: `usual_bytes_max`, but for the few
    // that bring what a client sealed, and for those whose body nobody looks at.
    net::body_limits body_limits_of(const net::http_header& header,
                                    std::size_t usual_bytes_max) const;

    // What was sealed under a former master key is sealed under the one in force. Requires: there
    // is one. Errors as engine::submit.
    boost::asio::awaitable<result<jobs::resealed>> reseal_secrets();

    // What conversions of accounts have left that an earlier run did not come to the end of is
    // removed; how many there were. Requires: no request was answered yet. Errors as
    // engine::submit.
    boost::asio::awaitable<result<std::int64_t>> finish_conversions();

    // Whether the master key opens the devices' keys (one of them is tried), or there are none: so
    // that an operator hears of a wrong one before the devices do. The store's failure is a yes.
    boost::asio::awaitable<bool> can_decrypt_devices();

    // Who follows changes at this moment.
    std::size_t follower_count() const noexcept;
    // Those who do are told to go. Before the server that they are connected to stops.
    void stop_followers();

    // Webhooks are delivered from here on, by `calls`; `bodies`: what is posted is charged to it.
    // Both outlive the service.
    void start_webhooks(net::outgoing& calls, std::shared_ptr<net::body_budget> bodies,
                        const boost::asio::any_io_executor& executor);
    // What is under way is cut off, and told again after the next start.
    boost::asio::awaitable<void> stop_webhooks();
    delivery_counts webhook_deliveries() const noexcept;

    // Backups, scheduled and asked for.
    jobs::backups& backups() noexcept;

  private:
    std::unique_ptr<impl> impl_;
};

// An RFC 9457 problem for what net refuses by itself.
net::http_response refusal(const net::refused_request& refused);

// A fresh token: "cs_" and 43 characters of base64url, 256 bits. Stored as its SHA-256 only.
std::string make_token(entropy& source);

}  // namespace callsign::api
