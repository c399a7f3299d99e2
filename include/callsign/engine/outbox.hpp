#pragma once
// Synchronises remote accounts with their TaskChampion servers (docs/remote-accounts.md): pulls
// others' changes to the mirror, pushes the outbox, and settles its outcome. One coroutine per
// account, a limited number active at once; outbox_machine.hpp decides.
//
// Threads: the network executor. Lifetime: engine, clock, entropy and probe outlive the outbox;
// call stop(), await stopped(), then destroy.

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
    // Interval of polls of an idle remote server: the longest delay of a change made there.
    milliseconds poll_interval{std::chrono::seconds{5}};
    // Pause after a failure, doubled with each further one.
    milliseconds retry_min{500};
    milliseconds retry_max{std::chrono::minutes{5}};
    // Interval of checks that the remote server still has the mirror's last version.
    milliseconds verify_interval{std::chrono::minutes{5}};
    // Accounts active at once: each may hold a large response in memory.
    std::size_t at_once = 8;
    // Edits of one account that may wait for its remote server.
    std::size_t edits_max = 1'000;
    // Maximum of creations and keys in one version.
    std::int64_t effects_max = 500;
    // Attempts to send a creation. After these the outbox skips it, and the reaper fails its slot.
    std::int64_t attempts_max = 8;
    // Maximum size of the tasks held in memory while a mirror restarts from a snapshot.
    std::size_t state_bytes_max = std::size_t{256} << 20;
};

struct remote_status {
    // sending: pushing a version. waiting: a step failed, and is retried after a pause. halted:
    // operator action required.
    enum class state { starting, up_to_date, pulling, sending, waiting, halted };

    state now = state::starting;
    remote_halt halted = remote_halt::none;
    std::string last_error{};  // a sentence; empty: none since it was last up to date
    std::optional<time_point> last_error_at{};
    std::optional<time_point> up_to_date_at{};  // when the mirror last was, by the wall clock
    std::int64_t pulled = 0;                    // versions since up_to_date_at
};

struct outbox_totals {
    std::int64_t accounts = 0;
    std::int64_t halted = 0;
    std::int64_t failing = 0;          // with a last_error
    std::int64_t versions_pulled = 0;  // since the mirrors were up to date, in total
    milliseconds lag{0};               // since the account furthest behind was up to date
};

class outbox_probe {
  public:
    virtual ~outbox_probe() = default;
    enum class delivery { accepted, conflict, lost, rejected, unreachable, found };
    // A version was sent. lost: the server may have accepted it. found: it had accepted it, but the
    // response was lost.
    virtual void delivered(delivery /*outcome*/) {}
    // The child of a parent was queried to learn the fate of a sent version.
    virtual void looked_up() {}
    // The version of a push_now() was accepted.
    virtual void fenced() {}
    virtual void version_pulled() {}
    // A key is no longer corrected, because another client keeps overwriting it.
    virtual void key_contested() {}
    virtual void state_changed(account_id /*account*/, const remote_status& /*now*/) {}
    // Versions of a long history read so far.
    virtual void progressed(account_id /*account*/, std::int64_t /*versions*/) {}
};

class outbox final : public remote_editor {
  public:
    // Returns nullptr if the account's key cannot be decrypted: the master key is missing or wrong.
    using sink_maker = std::function<std::unique_ptr<task_sink>(const remote_chain&)>;

    outbox(engine& engine, clock& clock, entropy& entropy,
           const boost::asio::any_io_executor& network, outbox_options options, sink_maker make,
           outbox_probe& probe);
    ~outbox() override;
    outbox(const outbox&) = delete;
    outbox& operator=(const outbox&) = delete;

    // Takes effect with each account's next step; ends the pauses of idle accounts.
    void reload(outbox_options options);

    // Finds the remote accounts and begins. Call once, before requests are served.
    boost::asio::awaitable<result<void>> start();
    // Cancels calls in progress. Nothing is lost by that.
    void stop();
    boost::asio::awaitable<void> stopped();

    bool is_remote(account_id account) const override;
    // Edits the task as the remote server has it, and returns once that server has the change.
    // Errors: as engine::submit(); overloaded, remote_unavailable: nothing was done;
    // outcome_unknown.
    boost::asio::awaitable<result<edit_task::answer>> edit(edit_task c) override;

    // Pulls until the mirror has every version that the remote server had at the call. False: not
    // within engine_options::request_deadline, the account is halted or not remote, or stop() was
    // called.
    boost::asio::awaitable<bool> pull_now(account_id account);
    // Pushes the pending changes, or an empty version if there are none, and waits until the
    // version is accepted: no earlier push can arrive after that. False: as pull_now().
    boost::asio::awaitable<bool> push_now(account_id account);

    // The remote accounts, in the order of IDs.
    std::vector<account_id> accounts() const;
    std::optional<remote_status> status(account_id account) const;
    outbox_totals totals() const;
    const outbox_options& options() const noexcept;

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace callsign
