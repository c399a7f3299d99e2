#pragma once
// What runs beside the network thread and changes nothing: queries, and offloaded work, which asks
// the store nothing. Each is in one of three lanes, and each lane serves account by account in
// turn:
//
//   quick      queries that take a moment. Those that wait are answered in one transaction: opening
//              it, waking a reader and coming back cost more than most of them do.
//   long       queries whose claim says that they look at much. Each has a reader and a transaction
//              to itself. One reader is left to the quick ones, if there are two; one account has
//              `account_readers_max`.
//   offloaded  on threads of its own, which answer no queries: `offload_threads` of it at once, and
//              one of an account.
//
// A query may see what is committed and not durable yet. What a power cut could take back is not
// told: its answer waits for the writer's next sync.

#include "fair_queue.hpp"
#include "waiter.hpp"

#include <callsign/engine/engine.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace callsign {

enum class work_kind { query, offloaded };

class work_item final : public waiter {
  public:
    work_item(const claim& asks, work_kind of, std::function<void(read_tx*)> work)
        : waiter(asks), kind(of), run(std::move(work)) {}

    bool is_long() const { return weight > quick_weight_max; }

    // About a millisecond of a reader.
    static constexpr std::size_t quick_weight_max = std::size_t{256} * 1024;

    work_kind kind;
    std::function<void(read_tx*)> run;  // with a transaction for a query, else with none
    std::exception_ptr thrown;          // by `run`, unless it is a store_failure
    work_item* behind = nullptr;        // the queue's
};

// Threads that whole items have to themselves: so many in all, and so many of one account.
class places {
  public:
    places(std::size_t max, std::size_t account_max) : max_(max), account_max_(account_max) {}

    bool is_full() const noexcept { return taken_.size() >= max_; }
    // Requires: it is not full.
    bool has_one_for(payer who) const;
    void take(payer who) { taken_.push_back(who); }
    void give_back(payer who);

  private:
    std::size_t max_;
    std::size_t account_max_;
    std::vector<payer> taken_;
};

// Network executor, but for what says otherwise.
class readers {
  public:
    // `completed` is called on the network executor with those that have ended, their errors set;
    // `failed` on a reader's thread, for what a failure of the store is to be called; `visible`
    // there too: the number of the last batch that may have been seen by now (writer.hpp).
    struct callbacks {
        std::function<void(std::span<work_item* const>)> completed;
        std::function<boost::system::error_code(const store_failure&)> failed;
        std::function<std::uint64_t()> visible;
    };

    readers(store& store, clock& clock, const executors& executors, const engine_options& options,
            callbacks callbacks);
    // Abandons what is queued: the handlers are destroyed uncalled.
    ~readers();
    readers(const readers&) = delete;
    readers& operator=(const readers&) = delete;

    void push(work_item& item);
    // All up to that batch is durable: who waited for it is answered.
    void durable(std::uint64_t number);
    // Nothing more becomes durable: who waits for it, or would, has errc::shutting_down.
    void lose();

  private:
    using work_items = std::vector<work_item*>;

    void flush_reads_soon();
    void flush_reads();
    bool flush_quick(milliseconds now, work_items& expired);
    bool flush_long(milliseconds now, work_items& expired);
    void flush_offloaded(milliseconds now, work_items& expired);
    static work_item* take_next(fair_queue<work_item>& from, const places& free, milliseconds now,
                                work_items& expired);
    void finish(work_items done, std::uint64_t seen);
    static work_items take_all(fair_queue<work_item>& from);

    // ---- on the thread of the work ----
    // What they may have seen.
    std::uint64_t answer_all(std::span<work_item* const> asked);
    void run_one(work_item& item, read_tx* tx);

    // One slow one among them keeps the others waiting: few enough for a second reader to find
    // some.
    static constexpr std::size_t batch_max = 32;

    store& store_;
    clock& clock_;
    executors executors_;
    callbacks callbacks_;

    fair_queue<work_item> quick_;
    fair_queue<work_item> long_;
    fair_queue<work_item> offloaded_;
    std::size_t free_;  // readers
    places long_places_;
    places offload_places_;
    std::uint64_t durable_ = 0;
    bool lost_ = false;
    std::multimap<std::uint64_t, work_items> unanswered_;  // by what they may have seen
    bool quick_is_next_ = true;                            // with one reader they take turns
    bool scheduled_ = false;                               // flush_reads() is posted
};

}  // namespace callsign
