#pragma once
// Snapshots that the server makes of a managed account's tasks: once for each version, shared by
// concurrent and later requests. They are not encrypted yet: that depends on the device, and its
// handler does it.
//
// Snapshots are made in bounded steps, one at a time for an account and few at a time in all.
// Network executor.

#include <callsign/domain/queries/content.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/permits.hpp>
#include <callsign/engine/wakeup.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace callsign {
class collected_tasks;
}

namespace callsign::jobs {

struct server_snapshot {
    uuid version{};
    std::string packed;  // the plaintext of a device's body
};

class server_snapshots {
  public:
    // Of the snapshots kept for later requests. A larger one is made for those that wait for it.
    static constexpr std::size_t kept_bytes_max = std::size_t{32} << 20;
    // Each holds its account's tasks in memory.
    static constexpr std::size_t made_at_once_max = 2;

    using shared = std::shared_ptr<const server_snapshot>;

    // A snapshot of more than `bytes_max`, names and values together, is not made.
    server_snapshots(engine& engine, clock& clock, std::size_t bytes_max)
        : engine_(engine),
          clock_(clock),
          bytes_max_(bytes_max),
          permits_(clock, {.at_once = made_at_once_max}) {}

    // As of the head, or a later version. nullptr: the account has no version, or its snapshot is
    // too large. errc::overloaded: no memory left, or no permit in time.
    boost::asio::awaitable<result<shared>> of(account_id account, reserve_bytes reserve);

    // Snapshots begun so far.
    std::int64_t made() const noexcept { return state_->made; }

  private:
    using outcome = awaited<result<shared>>;
    // Shared with guards in coroutine frames, which at shutdown may outlive everything else.
    struct state {
        std::unordered_map<account_id, std::shared_ptr<outcome>> in_progress;
        std::deque<std::pair<account_id, shared>> kept;  // the oldest first
        std::size_t kept_bytes = 0;
        std::int64_t made = 0;

        shared find(account_id account) const;
        void keep(account_id account, shared snapshot);
    };

    boost::asio::awaitable<result<shared>> make(account_id account, reserve_bytes reserve);
    boost::asio::awaitable<result<bool>> collect_some(collected_tasks& all, account_id account);

    engine& engine_;
    clock& clock_;
    std::size_t bytes_max_;
    permits permits_;
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace callsign::jobs
