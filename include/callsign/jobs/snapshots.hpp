#pragma once
// Snapshots of managed accounts, which the server makes of its own tasks: each once for a version,
// whoever asks for it at once or after. What is shared is not sealed yet; that differs from device
// to device, and is their handler's.
//
// They are made a step at a time, so that nobody waits long behind one, one at a time for an
// account and few at a time in all. Network executor.

#include <callsign/domain/queries/content.hpp>
#include <callsign/engine/engine.hpp>

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
    std::string packed;  // as a device opens it
};

class server_snapshots {
  public:
    // Of those that are kept for whoever asks next. One larger than that is made for those who wait
    // for it.
    static constexpr std::size_t kept_bytes_max = std::size_t{32} << 20;
    // Each holds its account's tasks in memory.
    static constexpr std::size_t made_at_once_max = 2;

    using shared = std::shared_ptr<const server_snapshot>;

    // One of more than `bytes_max`, names and values together, is not made.
    server_snapshots(engine& engine, clock& clock, std::size_t bytes_max)
        : engine_(engine), clock_(clock), bytes_max_(bytes_max) {}

    // As of the head, or a later one. nullptr: the account has no version, or more than the bound
    // of a snapshot. errc::overloaded: there is no room.
    boost::asio::awaitable<result<shared>> of(account_id account, reserve_bytes reserve);

    // How many were made.
    std::int64_t made() const noexcept { return state_->made; }

  private:
    struct making;
    // Shared with guards in coroutines' frames: at shutdown those may outlive everything else.
    struct state {
        std::unordered_map<account_id, std::shared_ptr<making>> under_way;
        std::deque<timer*> queue;                        // of makers, each in its frame
        std::deque<std::pair<account_id, shared>> kept;  // the oldest first
        std::size_t kept_bytes = 0;
        std::size_t makers = 0;
        std::int64_t made = 0;

        shared find(account_id account) const;
        void keep(account_id account, shared snapshot);
        void wake_next() const;
    };
    class turn;

    boost::asio::awaitable<result<shared>> make(account_id account, reserve_bytes reserve);
    boost::asio::awaitable<result<bool>> collect_some(collected_tasks& all, account_id account);

    engine& engine_;
    clock& clock_;
    std::size_t bytes_max_;
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace callsign::jobs
