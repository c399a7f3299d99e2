#pragma once
// Lists of tasks in another order than their keys', or of tasks that depend on each other: put in
// order once, when the first page is asked for, and kept for the pages after it. So a page costs
// what it returns, and however tasks change meanwhile, each comes once, and none that was there all
// the time is left out.
//
// All tasks that could be in it are looked at, a step at a time, and put in order in the pool. What
// is kept is their ids; a list that is not kept any more begins again. Network executor.

#include <callsign/domain/task_filter.hpp>
#include <callsign/engine/engine.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <variant>
#include <vector>

namespace callsign::jobs {

struct ordered_list {
    std::uint64_t id = 0;  // of no other list, not before a restart either
    account_id account;
    milliseconds made_at{};  // by clock::elapsed()
    std::vector<uuid> tasks;
};

class ordered_lists {
  public:
    // Tasks looked at for one list, and what they depend on.
    static constexpr std::size_t looked_at_max = 200'000;
    // Each under way holds as much in memory.
    static constexpr std::size_t made_at_once_max = 8;
    static constexpr std::size_t account_made_at_once_max = 2;
    // What is kept, of all accounts and of one; the oldest goes first.
    static constexpr std::size_t kept_bytes_max = std::size_t{32} << 20;
    static constexpr std::size_t account_lists_max = 8;
    static constexpr milliseconds kept_for = std::chrono::minutes{15};

    using shared = std::shared_ptr<const ordered_list>;
    // More than `looked_at_max`.
    struct too_many {};
    using made = std::variant<shared, too_many, unknown_series>;

    ordered_lists(engine& engine, clock& clock, entropy& entropy);

    // By what holds at `now`, and by the tasks as they are found. errc::overloaded: too many are
    // being made.
    boost::asio::awaitable<result<made>> make(account_id account, task_filter filter,
                                              task_order order, time_point now);
    // nullptr: the account has no such list, or none any more.
    shared find(account_id account, std::uint64_t id) const;

  private:
    // Shared with guards in coroutines' frames: at shutdown those may outlive everything else.
    struct state {
        std::vector<account_id> under_way;
        std::deque<shared> kept;  // the oldest first
        std::size_t kept_bytes = 0;

        void keep(shared list);
        void drop(std::deque<shared>::iterator at);
    };
    class turn;

    engine& engine_;
    clock& clock_;
    std::uint64_t last_id_ = 0;
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace callsign::jobs
