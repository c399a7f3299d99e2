#pragma once
// The only part that opens a write transaction. It takes what waits, account by account in turn and
// up to what keeps it busy for about 20 ms, applies it in one transaction, commits once, and
// answers each: group commit.

#include "fair_queue.hpp"
#include "ids.hpp"
#include "store_time.hpp"
#include "work.hpp"

#include <callsign/engine/engine.hpp>
#include <callsign/rules/rules.hpp>

#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace callsign {

class writer {
  public:
    // All are called on the network executor. `happened` has a batch's events, after its commit and
    // before `completed`, which has its finished works, in order. `failed` is called once, when the
    // outcome of a commit is unknown, and `damaged`, once, when a command met damage. After either
    // nothing more is written.
    struct callbacks {
        std::function<void(std::span<const event>)> happened;
        std::function<void(std::span<work* const>)> completed;
        std::function<void(std::string)> failed;
        std::function<void(std::string)> damaged;
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
    // Writes something of its own, if writes are refused, to see whether they still are. Writer's
    // thread.
    void prove();
    // Of the last batch: how far the wall clock was behind, and the store's time. Any thread.
    milliseconds clock_behind() const noexcept { return clock_behind_; }
    time_point last_moment() const noexcept { return last_moment_; }

  private:
    void schedule();
    void drain();
    std::vector<work*> take_batch(std::vector<work*>& expired);
    bool has_room(std::size_t commands, const cost& sum, const cost& more) const;
    void run(std::vector<work*>& batch);
    void maintain(bool idle, bool light_waits);
    void apply_in_parts(std::span<work* const> batch, int& attempts_left);
    boost::system::error_code attempt(std::span<work* const> batch, bool& opened);
    void apply_and_commit(std::span<work* const> batch, bool& opened);
    boost::system::error_code failed(const store_failure& failure);
    void note_trouble(std::optional<store_failure> now);
    void finish(std::vector<work*> done, std::vector<event> happened = {});
    void finish(std::vector<work*> done, boost::system::error_code error);

    store& store_;
    clock& clock_;
    executors executors_;
    engine_options options_;
    engine_probe& probe_;
    callbacks callbacks_;

    // ---- the only lock of the house ----
    std::mutex mutex_;
    fair_queue<work> queue_;  // bounded by the engine, which counts what it pushes
    bool scheduled_ = false;  // drain() is posted or running

    // ---- writer's thread ----
    time_ordered_ids ids_;
    store_time time_;
    std::atomic<milliseconds> clock_behind_{milliseconds{0}};
    std::atomic<time_point> last_moment_{time_point{}};
    int put_off_ = 0;                       // batches in a row without maintenance
    std::optional<store_failure> trouble_;  // that is likely to last
    std::optional<store_failure> met_;      // of that kind, in this batch
    std::vector<event> happened_;           // in the batches committed since they were handed over
    boost::system::error_code stopped_;     // what everything is answered with from then on
};

}  // namespace callsign
