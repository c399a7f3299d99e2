#pragma once
// Runs what changes nothing off the network thread: queries, and offloaded work, which does not use
// the store. Each is in one of three lanes, which serve accounts in turn:
//
//   quick      queries of about a millisecond. Those that wait share one transaction: opening it,
//              waking a reader and returning cost more than most of them do.
//   long       queries whose claim is large. Each has a reader and a transaction to itself. One
//              reader is left to quick ones, if there are two; an account has
//              `account_readers_max`.
//   offloaded  on threads of its own: `offload_threads` of it at once, and one of an account.
//
// A query may see commits that are not durable yet. It completes only after the sync behind them:
// no response contains what a power failure could revert.

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
    std::function<void(read_tx*)> run;  // with a transaction for a query, otherwise null
    std::exception_ptr thrown;          // by `run`, unless it is a store_failure
    work_item* behind = nullptr;        // for the queue's use
};

// Permits for threads that an item has to itself: a maximum in all, and one of an account.
class places {
  public:
    places(std::size_t max, std::size_t account_max) : max_(max), account_max_(account_max) {}

    bool is_full() const noexcept { return taken_.size() >= max_; }
    // Requires: not full.
    bool has_one_for(payer who) const;
    void take(payer who) { taken_.push_back(who); }
    void give_back(payer who);

  private:
    std::size_t max_;
    std::size_t account_max_;
    std::vector<payer> taken_;
};

// Network executor, unless noted.
class readers {
  public:
    // `completed` is called on the network executor with items that have ended, their errors set.
    // `failed`, on a reader's thread, returns the error for a failure of the store. `visible`, on a
    // reader's thread, returns the number of the last batch that may have been seen by now
    // (writer.hpp).
    struct callbacks {
        std::function<void(std::span<work_item* const>)> completed;
        std::function<boost::system::error_code(const store_failure&)> failed;
        std::function<std::uint64_t()> visible;
    };

    readers(store& store, clock& clock, const executors& executors, const engine_options& options,
            callbacks callbacks);
    // Abandons queued items: the handlers are destroyed uncalled.
    ~readers();
    readers(const readers&) = delete;
    readers& operator=(const readers&) = delete;

    void push(work_item& item);
    // All batches up to this one are durable: completes the queries that waited for it.
    void durable(std::uint64_t number);
    // No further batch becomes durable: queries that wait for one, or would, fail with
    // errc::shutting_down.
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
    // Returns the number of the last batch that the queries may have seen.
    std::uint64_t answer_all(std::span<work_item* const> asked);
    void run_one(work_item& item, read_tx* tx);

    // A slow item keeps the others of its batch waiting: few enough to leave some for a second
    // reader.
    static constexpr std::size_t batch_max = 32;

    store& store_;
    clock& clock_;
    executors executors_;
    callbacks callbacks_;

    fair_queue<work_item> quick_;
    fair_queue<work_item> long_;
    fair_queue<work_item> offloaded_;
    std::size_t free_;  // idle readers
    places long_places_;
    places offload_places_;
    std::uint64_t durable_ = 0;
    bool lost_ = false;
    std::multimap<std::uint64_t, work_items> unanswered_;  // by the last batch possibly seen
    bool quick_is_next_ = true;                            // with one reader the lanes take turns
    bool scheduled_ = false;                               // flush_reads() is posted
};

}  // namespace callsign
