#pragma once
// The only part that opens a write transaction. It takes what waits, account by account in turn and
// up to what keeps it busy for about 20 ms, applies it in one transaction, commits once, and
// answers each: group commit. What a command takes is known once it is applied, for it depends on
// the rows that it comes to: a batch ends where that is too much, and its other commands are the
// first of the next one; but for those of an account whose commands took more than they claimed,
// which owes that (fair_queue.hpp).
//
// A commit is there at once and durable once the disk has it, which takes as long as applying a
// batch. So the writer goes on with the next batch meanwhile, on `executors.sync` one sync follows
// the other, each for all that was committed before it began, and what a batch is answered, and
// what it made happen, waits for the sync behind it. A creation's second phase is queued when the
// sync of its first begins: it is applied meanwhile, and a later sync is its own. A large batch is
// committed when the sync before it has ended, so that there are no more commits than syncs. Where
// nothing waits the writer syncs by itself.
//
// If a sync fails, nobody knows what is durable: all that waited for it is answered so, and nothing
// more is written.

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
    // All are called on the network executor. `happened` has a batch's events, once it is durable
    // and before `completed`, which has its finished works, in order; then `durable` says how far
    // that is. `failed` is called when the outcome of a commit is unknown: nothing more is written.
    // `unread` is called with each thing that a command could not read, as engine_probe has it.
    struct callbacks {
        std::function<void(std::span<const event>)> happened;
        std::function<void(std::span<work* const>)> completed;
        std::function<void(std::uint64_t)> durable;
        std::function<void(std::string)> failed;
        std::function<void(const store_failure&)> unread;
        // As engine::write_trouble() is now.
        std::function<void(std::optional<store_failure>)> trouble;
    };

    writer(store& store, clock& clock, entropy& entropy, const executors& executors,
           const engine_options& options, engine_probe& probe, callbacks callbacks);
    // Abandons what is queued: the handlers are destroyed uncalled.
    ~writer();
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;

    // Any thread.
    void push(work& w);
    // Sees whether the store can be written at all. Writer's thread.
    void look();
    // Where writes are refused, sees whether they still are: looks at damage again, applies the
    // command that met it, to no effect, and writes something of its own. Writer's thread.
    void prove();
    // The number of the last batch that a read may have seen: it is counted before it is committed.
    // Any thread.
    std::uint64_t visible() const noexcept { return visible_; }
    // Of the last batch: how far the wall clock was behind, and the store's time. Any thread.
    milliseconds clock_behind() const noexcept { return clock_behind_; }
    time_point last_moment() const noexcept { return last_moment_; }

  private:
    // When a batch was begun, and its COMMIT.
    struct batch_times {
        std::size_t commands;
        std::chrono::steady_clock::time_point begun;
        std::chrono::steady_clock::time_point applied;
    };
    // Of some batches, in order, the last of them by its number.
    struct outcomes {
        std::vector<work*> works{};
        std::vector<event> happened{};
        std::vector<batch_times> batches{};
        std::uint64_t number = 0;

        void append(outcomes more);
    };

    // What an account's commands took beyond what they claimed, in bytes of work.
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
    void refuse(std::span<work* const> batch);
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

    // ---- the only lock of the house ----
    std::mutex mutex_;
    fair_queue<work> queue_;       // bounded by the engine, which counts what it pushes
    std::deque<work*> left_over_;  // of the last batch: before what is queued
    bool scheduled_ = false;       // drain() is posted or running
    outcomes committed_;           // since the last sync began
    enum class syncs { none, due, running } syncs_ = syncs::none;
    std::condition_variable synced_;  // they are none

    // ---- of whoever syncs ----
    outcomes unsynced_;              // that the sync under way is for
    std::atomic<bool> lost_{false};  // one has failed; any thread asks

    // ---- writer's thread ----
    time_ordered_ids ids_;
    store_time time_;
    std::atomic<milliseconds> clock_behind_{milliseconds{0}};
    std::atomic<time_point> last_moment_{time_point{}};
    std::atomic<std::uint64_t> visible_{0};
    int put_off_ = 0;                       // batches in a row without maintenance
    std::optional<store_failure> trouble_;  // that is likely to last
    std::optional<store_failure> met_;      // of that kind, in this batch
    std::size_t not_applied_ = 0;           // commands of this batch, the last ones
    overruns overruns_;                     // in this batch
    outcomes under_way_;                    // but for the works
    std::optional<std::size_t> applied_;    // in its batch, the command that is being applied
    std::optional<command> struck_;         // that met the damage for which writing is stopped
    boost::system::error_code stopped_;     // what everything is answered with until it is none
};

}  // namespace callsign
