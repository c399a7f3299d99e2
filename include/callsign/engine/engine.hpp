#pragma once
// Entry point for commands, queries and creations. The engine owns the command queue and the
// writer, and is the only part that opens a write transaction.
//
// All are admitted by one rule: each has a claim (domain/claim.hpp), which names the account that
// is charged, the cost and the deadline. Accounts are served in turn.
//
// Threads: every public function is called on the network executor and completes there, unless
// noted. Batches run on the writer executor, queries on the reader executor, offloaded work on its
// own; in tests all may be one. Lifetime: store, clock, entropy and probe outlive the engine; the
// engine outlives its callers' coroutines (call stop(), await drained(), then destroy).

#include <callsign/base/result.hpp>
#include <callsign/base/time.hpp>
#include <callsign/domain/claim.hpp>
#include <callsign/domain/command.hpp>
#include <callsign/domain/query.hpp>
#include <callsign/engine/hub.hpp>
#include <callsign/engine/probe.hpp>
#include <callsign/ports/clock.hpp>
#include <callsign/ports/entropy.hpp>
#include <callsign/ports/store.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace callsign {

struct engine_options {
    // Maximum number of waiting and running requests: commands, queries and offloaded work
    // together. More: errc::overloaded.
    std::size_t queue_depth_max = 4096;
    // Maximum bytes of content of these requests together, which bounds memory. One request larger
    // than that is admitted in addition.
    std::size_t queue_bytes_max = 64u << 20;
    // Maximum share of one account; all anonymous clients together count as one account. While
    // other accounts have requests, the share is proportional to what is still free (shares.hpp).
    std::size_t account_depth_max = 3072;
    std::size_t account_bytes_max = 48u << 20;
    // Readers that long queries of one account may occupy at once.
    std::size_t account_readers_max = 1;
    // Offloaded work that runs at once, of different accounts: the number of threads of `offload`.
    std::size_t offload_threads = 1;
    // Commands in one transaction. Larger batches cost latency, smaller ones commits.
    std::size_t batch_commands_max = 1024;
    // Bytes of content in one transaction, and operations plus rows read. Each limit is about 20 ms
    // of the writer on a small machine, which is how long another account may wait for a batch. A
    // single command that is larger is a batch by itself.
    std::size_t batch_bytes_max = 4u << 20;
    std::size_t batch_operations_max = 2048;
    // Bytes of work (domain/work.hpp) in one transaction, about 20 ms of the writer. A command's
    // work is known only after it was applied: the batch ends after the command that exceeds this.
    std::size_t batch_work_max = 8u << 20;
    // How long a request may wait for its turn, or for the outcome of a request with the same key.
    milliseconds request_deadline{10'000};
    // The attribute that holds a task's key, for clients to display. Empty: none.
    std::string key_attribute = "key";
    // Maximum of account::stored_bytes; 0: unlimited.
    std::size_t stored_bytes_max = 0;
    // Maximum of an account's live tokens, and of former prefixes of its series; 0: unlimited.
    std::size_t tokens_max = 1'000;
    std::size_t former_prefixes_max = 1'000;
    // Maximum size in bytes of a task's attributes after a sync: at least that of the largest
    // segment accepted.
    std::size_t synced_task_bytes_max = task_bytes_max;
    // The age of slots that an earlier process created is known by the wall clock only, which may
    // be wrong. The wall clock is trusted after this uptime; until then such slots count as created
    // at the start.
    milliseconds trust_clock_after{std::chrono::hours{1}};
    // Interval of test writes while writes are rejected for a lasting reason.
    milliseconds write_test_interval{1'000};
    // While writes are rejected because of corruption, the data is read again after
    // write_test_interval at first, then after twice the pause each time, up to this maximum.
    milliseconds reread_interval_max{60'000};
};

struct executors {
    boost::asio::any_io_executor network;
    boost::asio::any_io_executor writer;
    boost::asio::any_io_executor reader;
    // For offloaded work; none: `reader`.
    boost::asio::any_io_executor offload{};
    // Makes commits durable while the writer goes on with the next batch; none: the writer does so
    // itself.
    boost::asio::any_io_executor sync{};
    std::size_t readers = 1;  // threads of `reader`
};

// The outcome is not known yet: another request with this key is still running, the remote server
// has not accepted the task by the deadline, or the slot has expired. Retry with the same key.
struct in_progress {};
using create_answer =
    std::variant<receipted, slot_failed, key_conflict, unknown_series, series_archived,
                 task_not_valid, depends_unmet, in_progress, task_too_large, remote_halted,
                 series_held, account_full, ref_fault>;

// Edits tasks of remote accounts.
class remote_editor {
  public:
    virtual ~remote_editor() = default;
    virtual bool is_remote(account_id account) const = 0;
    virtual boost::asio::awaitable<result<edit_task::answer>> edit(edit_task c) = 0;
};

class engine {
  public:
    // `on_fatal` is called once, on the network executor, when the outcome of a commit is unknown:
    // the batch returns errc::outcome_unknown, later commands return errc::shutting_down, nothing
    // more is written, and the process should exit.
    engine(store& store, clock& clock, entropy& entropy, const executors& executors,
           engine_options options, engine_probe& probe, std::function<void(std::string)> on_fatal);
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    // Applies one command in some batch. Returns once the commit is durable, or with
    // errc::overloaded, shutting_down, deadline_exceeded, store_rejected, storage_full,
    // store_damaged, record_damaged, account_gone (nothing was done) or outcome_unknown.
    template <class Command>
    boost::asio::awaitable<result<typename Command::answer>> submit(Command command) {
        return submit_by(std::move(command), std::nullopt);
    }
    // Also records the actor in the audit log, in the same transaction, if the command takes
    // effect.
    template <class Command>
    boost::asio::awaitable<result<typename Command::answer>> submit(Command command, actor by) {
        return submit_by(std::move(command), std::move(by));
    }

    // Creates a task: reserve, then fulfil, each durable in a batch of its own. For a remote
    // account begin_delivery replaces fulfil, and the call waits until the slot is settled. If
    // another request with the same key is running, waits for its outcome first. Errors: as
    // submit() and ask(). After an error the slot may be pending or in flight: retry with the same
    // key.
    boost::asio::awaitable<result<create_answer>> create(reserve request);

    // edit_task for local and remote accounts. Errors as submit(), and remote_unavailable: the
    // remote server cannot be reached; nothing was done.
    boost::asio::awaitable<result<edit_task::answer>> edit(edit_task c);
    // Sets the editor for remote accounts. It must outlive the requests.
    void set_remote_editor(remote_editor& editor);

    // Executes a query on the reader executor. A query with a large claim has a transaction of its
    // own, so that others do not wait behind it. Errors: errc::overloaded, deadline_exceeded (not
    // executed), shutting_down (it read commits that are not durable), and store_unavailable,
    // store_damaged or record_damaged if the store throws.
    template <class Query>
    boost::asio::awaitable<result<typename Query::answer>> ask(Query query);

    // Runs work that would block the network thread, and needs no store, on the offload executor:
    // of each account one at a time. Errors: errc::overloaded, deadline_exceeded (not begun).
    // Exceptions of `work` pass through.
    template <class Work>
    boost::asio::awaitable<result<std::invoke_result_t<Work&>>> offload(claim asks, Work work);
    // Runs `work` at once if `is_little`; otherwise as offload().
    template <class Work>
    boost::asio::awaitable<result<std::invoke_result_t<Work&>>> offload_unless(bool is_little,
                                                                               claim asks,
                                                                               Work work);

    // Encodes tasks or changes of the account with make(), whose work is known
    // (domain/work.hpp): at once if it is little, otherwise as offload().
    template <class Make>
    boost::asio::awaitable<result<std::invoke_result_t<Make&>>> encode(account_id account,
                                                                       std::size_t work,
                                                                       Make make) {
        // Some 10 ms on a small machine.
        constexpr std::size_t encoded_at_once_max = std::size_t{128} << 10;
        return offload_unless(work <= encoded_at_once_max, {account, {.bytes = work}},
                              std::move(make));
    }

    // Copies the store to a file that must not exist, in steps between batches, and reports
    // progress. One copy at a time. Returns why it failed, in a sentence; the file is useless then.
    boost::asio::awaitable<std::optional<std::string>> copy_to(
        std::filesystem::path file, std::function<void(const amount_done&)> told);

    hub& events() noexcept;

    // One bounded step of a sweep: reconcile_pending, with every creation in progress marked as
    // busy. The caller is on the network executor, so no creation begins between marking and
    // queueing; and the system is first in turn, so creations that begin later are applied later.
    boost::asio::awaitable<result<reconcile_pending::answer>> reconcile(
        slot_id after, std::int64_t limit, per_class<milliseconds> window);
    // The same for a remote account: fail_in_flight.
    boost::asio::awaitable<result<fail_in_flight::answer>> reconcile(fail_in_flight c);

    // Returns whether this claim would be rejected now for its account's share or the limits; if
    // so, it is counted as rejected.
    bool would_reject(const claim& asks);

    milliseconds request_deadline() const noexcept;

    // Rejects new commands with errc::shutting_down, and ends a copy. Queued commands are executed;
    // queries and offloaded work are still admitted.
    void stop();
    // Completes when no command, query, offloaded work, copy or watch_writes() is left. Requires:
    // stop().
    boost::asio::awaitable<void> drained();

    // False once a commit's outcome was unknown or stop() was called.
    bool accepting() const noexcept;
    // False while another process could take over the store (shared_store::is_held): queries and
    // commands fail.
    bool holds_store() const noexcept;
    // True while commands are rejected because of corruption, until watch_writes() finds the data
    // readable. Queries still run. For other failures see write_failure().
    bool is_corrupt() const noexcept;
    // Why writes are rejected, if that will last: the disk is full, writes fail, are not permitted,
    // or data is corrupt. None after the next successful write.
    const std::optional<store_failure>& write_failure() const noexcept;
    // Tests at the start, and periodically while writes are rejected, whether the store can be
    // written; keeps a shared one (shared_store::keep). Runs until stop(). Spawn once.
    boost::asio::awaitable<void> watch_writes();
    // Number of waiting and running requests.
    std::size_t queue_depth() const noexcept;
    // How far the wall clock was behind the store's time at the last batch; zero: not behind. Any
    // thread.
    milliseconds clock_behind() const noexcept;

  private:
    class impl;

    template <class Command>
    boost::asio::awaitable<result<typename Command::answer>> submit_by(Command command,
                                                                       std::optional<actor> by);
    boost::asio::awaitable<boost::system::error_code> submit_any(command c, std::optional<actor> by,
                                                                 std::optional<answer>& done);
    boost::asio::awaitable<boost::system::error_code> run_query(claim asks,
                                                                std::function<void(read_tx*)> run);
    boost::asio::awaitable<boost::system::error_code> run_offloaded(
        claim asks, std::function<void(read_tx*)> run);

    std::unique_ptr<impl> impl_;
};

template <class Work>
boost::asio::awaitable<result<std::invoke_result_t<Work&>>> engine::offload(claim asks, Work work) {
    std::optional<std::invoke_result_t<Work&>> done;
    std::function<void(read_tx*)> run = [&](read_tx*) { done.emplace(work()); };
    const boost::system::error_code error = co_await run_offloaded(asks, std::move(run));
    // Explicit: a result<bool> could be constructed from it in two ways.
    using done_or_not = result<std::invoke_result_t<Work&>>;
    if (error) co_return done_or_not(boost::system::in_place_error, error);
    co_return std::move(*done);
}

template <class Work>
boost::asio::awaitable<result<std::invoke_result_t<Work&>>> engine::offload_unless(bool is_little,
                                                                                   claim asks,
                                                                                   Work work) {
    if (is_little) co_return result<std::invoke_result_t<Work&>>(work());
    co_return co_await offload(asks, std::move(work));
}

}  // namespace callsign
