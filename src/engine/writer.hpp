#pragma once
// The only part that opens a write transaction. Group commit: takes what waits, accounts in turn
// and up to about 20 ms of work, applies it in one transaction, commits once, and completes each
// command. The cost of a command is known once it is applied, for it depends on the rows that it
// reads. A batch ends where that is too much, and its other commands are the first of the next one,
// except those of accounts whose commands exceeded their claims, which are charged for it
// (fair_queue.hpp).
//
// A commit is visible at once, and durable after a sync, which takes as long as applying a batch.
// So the writer goes on with the next batch while `executors.sync` runs one sync after another,
// each for all that was committed before it began. Answers and events wait for the sync behind
// their commit. A creation's second phase is queued when the sync of its first begins: it is
// applied meanwhile, and a later sync covers it. A large batch is committed when the sync before it
// has ended, so that there are no more commits than syncs. If nothing waits the writer syncs by
// itself.
//
// If a sync fails, it is unknown what is durable: all that waited for it gets outcome_unknown, and
// nothing more is written.
//
// Locks: `mutex_` guards the queue and the batches passed between the writer and the syncing
// thread. Others guard the bodies' budget (net), unwritten log lines (platform), metrics by
// route (main), and the stores' readers, indexes and syncs (store).

#include "fair_queue.hpp"
#include "ids.hpp"
#include "store_time.hpp"
#include "work.hpp"

#include <callsign/engine/engine.hpp>
#include <callsign/rules/footprint.hpp>
#include <callsign/rules/rules.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace callsign {

class writer {
  public:
    // All are called on the network executor. `happened` has a batch's events, once it is durable,
    // and comes before `completed`, which has its finished works, in order; then `durable` has the
    // batch's number. `failed`: the outcome of a commit is unknown, and nothing more is written.
    // `unread`: a failed read or corruption that a command hit, as for engine_probe.
    struct callbacks {
        std::function<void(std::span<const event>)> happened;
        std::function<void(std::span<work* const>)> completed;
        std::function<void(std::uint64_t)> durable;
        std::function<void(std::string)> failed;
        std::function<void(const store_failure&)> unread;
        // The new value of engine::write_failure().
        std::function<void(std::optional<store_failure>)> trouble;
    };

    writer(store& store, clock& clock, entropy& entropy, const executors& executors,
           const engine_options& options, engine_probe& probe, callbacks callbacks);
    // Abandons queued works: the handlers are destroyed uncalled.
    ~writer();
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;

    // Any thread.
    void push(work& w);
    // Tests whether a write transaction can begin. Writer's thread.
    void look();
    // Tests rejected writes: reads corrupt data again, applies the command that hit it without
    // committing, and makes a test write. Writer's thread.
    void prove();
    // Keeps a store that another process could take over (shared_store::keep). Writer's thread.
    void keep();
    // The number of the last batch that a query may have seen: it is counted before it is
    // committed. Any thread.
    std::uint64_t visible() const noexcept { return visible_; }
    // As of the last batch: how far the wall clock was behind, and the store's time. Any thread.
    milliseconds clock_behind() const noexcept { return clock_behind_; }
    time_point last_moment() const noexcept { return last_moment_; }

  private:
    // When a batch began, and its COMMIT.
    struct batch_times {
        std::size_t commands;
        std::chrono::steady_clock::time_point begun;
        std::chrono::steady_clock::time_point applied;
    };
    // Of consecutive batches; `number` is the last one's.
    struct outcomes {
        std::vector<work*> works{};
        std::vector<event> happened{};
        std::vector<batch_times> batches{};
        std::uint64_t number = 0;

        void append(outcomes more);
    };

    // By account: what its commands cost beyond their claims, in bytes of work.
    using overruns = std::map<payer, std::size_t>;

    void schedule();
    void drain();
    bool nothing_waits() const { return left_over_.empty() && queue_.empty(); }
    work* next() { return left_over_.empty() ? queue_.next() : left_over_.front(); }
    work& take();
    std::vector<work*> take_batch(std::vector<work*>& expired);
    void take_back(std::vector<work*>& batch);
    bool has_room(std::size_t commands, const cost& sum, const cost& more) const;
    void run(std::vector<work*>& batch);
    void tell_totals();
    void make_durable(std::vector<work*>& batch);
    void take_committed();
    bool begin_sync();
    void await_sync();
    void sync_all();
    void end_sync();
    void finish(outcomes done);
    void lose(const std::string& why);
    void maintain(bool idle, bool light_waits);
    void apply_in_parts(std::span<work* const> batch, int& attempts_left);
    void reject(std::span<work* const> batch);
    boost::system::error_code attempt(std::span<work* const>& batch, bool& opened);
    bool apply_and_commit(std::span<work* const>& batch, bool& opened);
    std::size_t apply_some(write_tx& tx, std::span<work* const> batch, const rules::moment& m,
                           overruns& more);
    rules::moment begin_moment(std::vector<event>& happened);
    void apply_to_no_effect(const command& c);
    boost::system::error_code failed(const store_failure& failure);
    void stop_for(const store_failure& damage);
    void note_trouble(std::optional<store_failure> now);

    store& store_;
    clock& clock_;
    executors executors_;
    engine_options options_;
    engine_probe& probe_;
    callbacks callbacks_;

    // ---- guarded by mutex_: any thread ----
    std::mutex mutex_;
    fair_queue<work> queue_;       // limited by the engine, which counts what it pushes
    std::deque<work*> left_over_;  // of the last batch: served before queue_
    bool scheduled_ = false;       // drain() is posted or running
    outcomes committed_;           // since the last sync began
    enum class syncs { none, due, running } syncs_ = syncs::none;
    std::condition_variable synced_;  // notified when syncs_ becomes none

    // ---- of the thread that syncs ----
    outcomes unsynced_;              // that the running sync is for
    std::atomic<bool> lost_{false};  // a sync has failed; read by any thread

    // ---- writer's thread ----
    time_ordered_ids ids_;
    store_time time_;
    std::atomic<milliseconds> clock_behind_{milliseconds{0}};
    std::atomic<time_point> last_moment_{time_point{}};
    std::atomic<std::uint64_t> visible_{0};
    int put_off_ = 0;                       // batches in a row without maintenance
    std::optional<store_failure> trouble_;  // a failure that is likely to last
    std::optional<store_failure> met_;      // a lasting failure in this batch
    std::size_t not_applied_ = 0;           // the last commands of this batch
    overruns overruns_;                     // in this batch
    outcomes in_progress_;                  // of this batch, without its works
    std::optional<std::size_t> applied_;    // index in its batch of the command being applied
    std::optional<command> struck_;         // hit the corruption for which writing stopped
    boost::system::error_code stopped_;     // set: the error of every command
};

}  // namespace callsign
