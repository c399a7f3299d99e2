#pragma once
// Accounts whose tasks live on another TaskChampion server (product.md section 10), kept together
// with it: what others do there is pulled to the mirror here, what waits here is sent there, and
// what became of that is settled. One coroutine an account, a bounded number at work at once; how
// it decides is outbox_machine.hpp's.
//
// Threads: the network executor. Lifetime: engine, clock, entropy and probe outlive it; stop it,
// await stopped(), then destroy it.

#include <callsign/base/result.hpp>
#include <callsign/base/time.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/ports/clock.hpp>
#include <callsign/ports/entropy.hpp>
#include <callsign/ports/task_sink.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace callsign {

struct outbox_options {
    // Between two looks at a server where nothing happens: how long a change made there takes to
    // come here at most.
    milliseconds poll_interval{std::chrono::seconds{5}};
    // After a failure, doubled with each further one.
    milliseconds retry_min{500};
    milliseconds retry_max{std::chrono::minutes{5}};
    // How often a server is asked whether it still has what it had.
    milliseconds verify_interval{std::chrono::minutes{5}};
    // Accounts at work at once: each may hold a large answer in memory.
    std::size_t at_once = 8;
    // Edits of one account that may wait for its server.
    std::size_t edits_max = 1'000;
    // Creations and keys in one version.
    std::int64_t effects_max = 500;
    // A creation that was sent so often without success waits for the reaper.
    std::int64_t attempts_max = 8;
    // Of tasks, when a mirror begins again from a snapshot: more is not held in memory.
    std::size_t state_bytes_max = std::size_t{256} << 20;
};

// What is told of one account.
struct remote_status {
    enum class state { starting, up_to_date, pulling, sending, waiting, halted };

    state now = state::starting;
    remote_halt halted = remote_halt::none;
    std::string last_error{};  // a sentence; empty: none since it was last up to date
    std::optional<time_point> last_error_at{};
    std::optional<time_point> up_to_date_at{};  // when the mirror was last seen to be
    std::int64_t pulled = 0;                    // versions since then
};

struct outbox_totals {
    std::int64_t accounts = 0;
    std::int64_t halted = 0;
    std::int64_t failing = 0;          // whose server cannot be reached, or answers wrongly
    std::int64_t versions_behind = 0;  // pulled since they were last up to date, all together
    milliseconds lag{0};               // since the one furthest behind was up to date
};

class outbox_probe {
  public:
    virtual ~outbox_probe() = default;
    enum class delivery { accepted, conflict, lost, refused, unreachable, found };
    // A version was sent, with so many creations, keys and edits. found: it had been taken though
    // its answer was lost.
    virtual void delivered(delivery /*outcome*/, std::size_t /*parts*/) {}
    // What became of a version was asked.
    virtual void looked_up() {}
    virtual void fenced() {}
    virtual void version_pulled() {}
    virtual void key_contested() {}
    virtual void state_changed(account_id /*account*/, const remote_status& /*now*/) {}
    // How far a long history has come.
    virtual void progressed(account_id /*account*/, std::int64_t /*versions*/) {}
};

class outbox final : public remote_editor {
  public:
    // nullptr: the account's key cannot be opened (the master key is missing, or another).
    using sink_maker = std::function<std::unique_ptr<task_sink>(const remote_chain&)>;

    outbox(engine& engine, clock& clock, entropy& entropy,
           const boost::asio::any_io_executor& network, outbox_options options, sink_maker make,
           outbox_probe& probe);
    ~outbox() override;
    outbox(const outbox&) = delete;
    outbox& operator=(const outbox&) = delete;

    // In force from each account's next step on; a pause that is longer now ends sooner.
    void reload(outbox_options options);

    // Finds the accounts there are, and begins. Once, before requests come.
    boost::asio::awaitable<result<void>> start();
    // Calls under way are cut off. Nothing is lost by that.
    void stop();
    boost::asio::awaitable<void> stopped();

    bool is_elsewhere(account_id account) const override;
    // On the task as the remote has it. Answered when the remote has the change. Errors: as
    // engine::submit(); remote_unavailable: nothing was done; outcome_unknown.
    boost::asio::awaitable<result<edit_task::answer>> edit(edit_task c) override;

    // Brings the mirror to what the remote has now. False: it could not be asked.
    boost::asio::awaitable<bool> look_up(account_id account);
    // Sends a version, whatever is in it, and sees it on the chain.
    boost::asio::awaitable<bool> fence(account_id account);

    // The accounts, in the order of their ids.
    std::vector<account_id> accounts() const;
    std::optional<remote_status> status(account_id account) const;
    outbox_totals totals() const;
    const outbox_options& options() const noexcept;

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign
