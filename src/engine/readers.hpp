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
//   offloaded  one thing at a time, on a thread that answers no queries.

#include "fair_queue.hpp"
#include "waiter.hpp"

#include <callsign/engine/engine.hpp>

#include <functional>
#include <span>
#include <vector>

namespace callsign {

enum class read_kind { query, offloaded };

class job final : public waiter {
  public:
    job(const claim& asks, read_kind of, std::function<void(read_tx*)> what)
        : waiter(asks), kind(of), run(std::move(what)) {}

    bool is_long() const { return weight > quick_weight_max; }

    // About a millisecond of a reader.
    static constexpr std::size_t quick_weight_max = std::size_t{256} * 1024;

    read_kind kind;
    std::function<void(read_tx*)> run;  // with a transaction for a query, else with none
    std::exception_ptr thrown;          // by `run`, unless it is a store_failure
    job* behind = nullptr;              // the queue's
};

// Network executor, but for what says otherwise.
class readers {
  public:
    // `completed` is called on the network executor with those that have ended, their errors set;
    // `failed` on a reader's thread, for what a failure of the store is to be called.
    struct callbacks {
        std::function<void(std::span<job* const>)> completed;
        std::function<boost::system::error_code(const store_failure&)> failed;
    };

    readers(store& store, clock& clock, const executors& executors, const engine_options& options,
            callbacks callbacks);
    // Abandons what is queued: the handlers are destroyed uncalled.
    ~readers();
    readers(const readers&) = delete;
    readers& operator=(const readers&) = delete;

    void push(job& j);

  private:
    using jobs = std::vector<job*>;

    void flush_reads_soon();
    void flush_reads();
    bool flush_quick(milliseconds now, jobs& expired);
    bool flush_long(milliseconds now, jobs& expired);
    void flush_offloaded(milliseconds now, jobs& expired);
    bool has_a_reader_left(payer who) const;
    void finish(jobs done);
    static jobs take_all(fair_queue<job>& from);

    // ---- on the job's thread ----
    void answer_all(std::span<job* const> asked);
    void run_one(job& j, read_tx* tx);

    // One slow one among them keeps the others waiting: few enough for a second reader to find
    // some.
    static constexpr std::size_t batch_max = 32;

    store& store_;
    clock& clock_;
    executors executors_;
    std::size_t long_max_;          // readers that long questions may have together
    std::size_t account_long_max_;  // and those of one account
    callbacks callbacks_;

    fair_queue<job> quick_;
    fair_queue<job> long_;
    fair_queue<job> offloaded_;
    std::size_t free_;                 // readers
    std::vector<payer> long_running_;  // whose long questions have a reader now
    bool offload_running_ = false;
    bool quick_is_next_ = true;  // with one reader they take turns
    bool scheduled_ = false;     // flush_reads() is posted
};

}  // namespace callsign
