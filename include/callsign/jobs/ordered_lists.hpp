#pragma once
// Lists of tasks in another order than that of keys, or of tasks that depend on each other: sorted
// once, for the first page, and kept for the pages after it. A page then costs what it returns, and
// while tasks change, each appears once, and none that exists throughout is missing.
//
// All tasks that may be in a list are read, in steps, and sorted by offloaded work. Their IDs are
// kept; a list that has expired has to be requested again. Network executor.

#include <callsign/domain/task_filter.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/permits.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <variant>
#include <vector>

namespace callsign::jobs {

struct ordered_list {
    std::uint64_t id = 0;  // unique, also across restarts
    account_id account;
    milliseconds made_at{};  // by clock::elapsed()
    std::vector<uuid> tasks;
};

class ordered_lists {
  public:
    // Maximum of tasks read for one list, plus their dependencies.
    static constexpr std::size_t looked_at_max = 200'000;
    // Lists in progress, in all and per account; each holds that much in memory.
    static constexpr std::size_t made_at_once_max = 8;
    static constexpr std::size_t account_made_at_once_max = 2;
    // Limits of the lists that are kept, in all and per account; the oldest are evicted first.
    static constexpr std::size_t kept_bytes_max = std::size_t{32} << 20;
    static constexpr std::size_t account_lists_max = 8;
    static constexpr milliseconds kept_for = std::chrono::minutes{15};

    using shared = std::shared_ptr<const ordered_list>;
    // More than `looked_at_max`.
    struct too_many {};
    using made = std::variant<shared, too_many, unknown_series>;

    ordered_lists(engine& engine, clock& clock, entropy& entropy);

    // Filters and sorts as of `now`, by the tasks as they are read. errc::overloaded: too many
    // lists are being made.
    boost::asio::awaitable<result<made>> make(account_id account, task_filter filter,
                                              task_order order, time_point now);
    // nullptr: the account has no such list, or it has expired.
    shared find(account_id account, std::uint64_t id) const;

  private:
    // Shared with guards in coroutine frames, which at shutdown may outlive everything else.
    struct state {
        std::deque<shared> kept;  // the oldest first
        std::size_t kept_bytes = 0;

        void keep(shared list);
        void drop(std::deque<shared>::iterator at);
    };

    engine& engine_;
    clock& clock_;
    permits permits_;
    std::uint64_t last_id_ = 0;
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace callsign::jobs
