#pragma once
// Delivers an account's changes to its webhooks: at least once, in order, one request per webhook
// at a time. A webhook's place is the last change that was delivered, or that its filter excludes.
// After a 2xx response the new place is made durable before the next request; after an interruption
// the same changes are posted again.
//
// A webhook without changes to deliver has no coroutine and no timer. Threads: network executor.

#include <callsign/domain/commands/webhooks.hpp>
#include <callsign/domain/query.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/permits.hpp>
#include <callsign/jobs/feed_pages.hpp>
#include <callsign/jobs/webhook_options.hpp>
#include <callsign/net/body_budget.hpp>
#include <callsign/net/outgoing.hpp>
#include <callsign/seal/key_ring.hpp>
#include <callsign/seal/secret.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace callsign::jobs {

// The account has tested a webhook so recently that it must wait.
struct tested_lately {
    milliseconds retry_in{0};
};

class webhook_deliverer {
  public:
    // `master` decrypts the webhooks' secrets; null: every delivery fails and counts towards
    // failures_max. All references and `master` must outlive this object.
    webhook_deliverer(engine& engine, clock& clock, entropy& entropy, feed_pages& pages,
                      const webhook_options& options, const seal::key_ring* master,
                      const std::string& key_attribute);
    ~webhook_deliverer();

    // Starts the deliveries. Call once. `calls` sends the requests and must outlive this object;
    // request bodies count against `bodies`.
    void start(net::outgoing& calls, std::shared_ptr<net::body_budget> bodies,
               const boost::asio::any_io_executor& executor);
    // Handles an event of engine::events(). Ignored before start() and after stop().
    void follow(const event& happened);
    // Posts a body of type "test" without changes, once, and returns the outcome; it is not in the
    // webhook's list of deliveries, and neither counts nor ends as a failure. Of one account one at
    // a time, with a pause. Errors: as engine::ask(), shutting_down, overloaded (too many
    // deliveries at once).
    using test_outcome = std::variant<webhook_delivery, no_such_webhook, tested_lately>;
    boost::asio::awaitable<result<test_outcome>> test(account_id account, callsign::uuid uuid);
    // Cancels deliveries in progress and starts no more. Completes when no coroutine runs.
    boost::asio::awaitable<void> stop();

    const delivery_counts& counts() const noexcept { return counts_; }
    // Returns null before start().
    net::outgoing* const& calls() const noexcept { return calls_; }

  private:
    struct hook;
    // over: the webhook is disabled or removed, or its account is not active.
    enum class step { go_on, done, busy, failed, over };

    void wake(account_id account, const uuid& id);
    void begin(const std::shared_ptr<hook>& h);
    void forget(const hook& h);
    void ended();
    void read_settings(hook& h) const;
    net::http_field_list headers_of(const hook& h, const std::string& id,
                                    const std::string& body) const;
    milliseconds pause_after(const hook& h);

    boost::asio::awaitable<void> load();
    boost::asio::awaitable<void> run(std::shared_ptr<hook> h);
    boost::asio::awaitable<bool> reload(hook& h);
    boost::asio::awaitable<step> deliver_next(hook& h);
    boost::asio::awaitable<step> read_and_post(hook& h, std::shared_ptr<feed_page>& page,
                                               std::optional<settle_delivery>& command);
    boost::asio::awaitable<result<webhook_delivery>> test(account_id account, webhook row);
    boost::asio::awaitable<std::optional<std::string>> body_of(const hook& h, feed_page& page);
    boost::asio::awaitable<void> post(hook& h, const read_changes::part& part, std::string body,
                                      settle_delivery& command);
    boost::asio::awaitable<net::http_outcome> exchange(account_id account, net::outgoing_url url,
                                                       net::http_call call);
    static void record(webhook_delivery& attempt, const net::http_outcome& outcome);
    boost::asio::awaitable<void> save(hook& h);
    settle_delivery settling(const hook& h) const;
    boost::asio::awaitable<step> settle(hook& h, settle_delivery command);

    engine& engine_;
    clock& clock_;
    entropy& entropy_;
    feed_pages& pages_;
    const webhook_options& options_;
    const seal::key_ring* const master_;
    const std::string& key_attribute_;
    net::outgoing* calls_ = nullptr;
    std::shared_ptr<net::body_budget> bodies_;
    boost::asio::any_io_executor executor_;
    permits deliveries_;
    permits lookups_;
    std::map<uuid, std::shared_ptr<hook>> hooks_;
    std::unordered_map<account_id, std::vector<std::shared_ptr<hook>>> of_accounts_;
    // When the account may test again, by the monotonic clock; max: a test is in progress.
    std::unordered_map<account_id, milliseconds> tested_;
    delivery_counts counts_;
    std::size_t in_progress_ = 0;  // running coroutines
    bool stopped_ = false;
    std::optional<wakeup> ended_;  // notified when a coroutine ends, and by stop(); set by start()
};

}  // namespace callsign::jobs
