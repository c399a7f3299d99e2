#pragma once
// The one way in: submit a command, ask a query, create a task. The engine owns the command queue
// and the writer, and is the only part that opens a write transaction.
//
// All are admitted by one rule: each has a claim (domain/claim.hpp), which says on whose share it
// counts, what it will take and how long it can wait, and is served account by account in turn.
//
// Threads: every public function is called on the network executor and completes there. Batches run
// on the writer executor, queries on the reader executor, offloaded work on its own; in tests all
// may be one. Lifetime: store, clock, entropy and probe outlive the engine; the engine outlives its
// callers' coroutines (stop it, await drained(), then destroy).

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
    // Requests that may wait or be under way at once: commands, queries and offloaded work
    // together. More: errc::overloaded.
    std::size_t queue_depth_max = 4096;
    // Bytes of request content in them together: what bounds memory when requests are large. One
    // request larger than that is taken besides.
    std::size_t queue_bytes_max = 64u << 20;
    // Of both, one account's part, so that none can fill the queue alone. All strangers together
    // are one account. Beside others an account gets as much of what is left (shares.hpp).
    std::size_t account_depth_max = 3072;
    std::size_t account_bytes_max = 48u << 20;
    // Readers that long queries of one account may have at once.
    std::size_t account_readers_max = 1;
    // Offloaded work under way at once, of different accounts: threads that `offload` has.
    std::size_t offload_threads = 1;
    // Commands in one transaction. Larger batches cost latency, smaller ones commits.
    std::size_t batch_commands_max = 1024;
    // Bytes of request content in one transaction, and operations with the rows they look at: each
    // is about 20 ms of the writer on a small machine, which is how long a quiet account may have
    // to wait for its neighbours' batch. A single command that is larger is a batch by itself.
    std::size_t batch_bytes_max = 4u << 20;
    std::size_t batch_operations_max = 2048;
    // What the commands of one transaction read and write of tasks and versions, which is known
    // once they have: behind the one that exceeds it the batch ends. As long as the others.
    std::size_t batch_work_max = 8u << 20;
    // How long a request may wait for its turn, or for another one's outcome.
    milliseconds request_deadline{10'000};
    // The attribute that a task's key is written to, for clients to show. Empty: none.
    std::string key_attribute = "key";
    // What an account may store (account::stored_bytes); 0: what it wants.
    std::size_t stored_bytes_max = 0;
    // Live tokens of an account, and prefixes that its series had before; 0: as many as it wants.
    std::size_t tokens_max = 1'000;
    std::size_t former_prefixes_max = 1'000;
    // A task that syncs make: what one segment can bring.
    std::size_t synced_task_bytes_max = task_bytes_max;
    // For slots from before the start there is only the wall clock's word of how old they are, and
    // it may be wrong. It is believed once the server has run so long; until then they are as old
    // as the run.
    milliseconds trust_clock_after{std::chrono::hours{1}};
    // While writes are refused for a reason that lasts, one of the server's own is tried as often.
    milliseconds prove_interval{1'000};
    // While they are refused for damage, what was met is looked at again: after as long at first,
    // then after twice as long each time, and at last as often as this.
    milliseconds look_interval_max{60'000};
};

struct executors {
    boost::asio::any_io_executor network;
    boost::asio::any_io_executor writer;
    boost::asio::any_io_executor reader;
    // For offloaded work; none: the readers'.
    boost::asio::any_io_executor offload{};
    // Where commits are made durable while the writer goes on with the next batch; none: the writer
    // does it.
    boost::asio::any_io_executor sync{};
    std::size_t readers = 1;  // threads that `reader` has
};

// Another request with this key is being worked on, and did not end before this one's deadline.
struct in_progress {};
using create_answer = std::variant<receipted, slot_failed, key_conflict, unknown_series,
                                   series_archived, task_not_valid, depends_unmet, in_progress,
                                   task_too_large, remote_halted, series_held, account_full>;

// Edits tasks of accounts that live on another server.
class remote_editor {
  public:
    virtual ~remote_editor() = default;
    virtual bool is_elsewhere(account_id account) const = 0;
    virtual boost::asio::awaitable<result<edit_task::answer>> edit(edit_task c) = 0;
};

class engine {
  public:
    // `on_fatal` is called once, on the network executor, when the outcome of a commit is not
    // known: that batch is answered errc::outcome_unknown, nothing more is written, and the process
    // should end. Everything after it is answered errc::shutting_down.
    engine(store& store, clock& clock, entropy& entropy, const executors& executors,
           engine_options options, engine_probe& probe, std::function<void(std::string)> on_fatal);
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    // Applies one command in some batch. Returns after the commit that holds it, or with
    // errc::overloaded, shutting_down, deadline_exceeded, store_refused, storage_full,
    // store_damaged, record_damaged, account_gone (nothing was done) or outcome_unknown.
    template <class Command>
    boost::asio::awaitable<result<typename Command::answer>> submit(Command command) {
        return submit_by(std::move(command), std::nullopt);
    }
    // And the audit log says who asked for it, if it is done: in the same transaction.
    template <class Command>
    boost::asio::awaitable<result<typename Command::answer>> submit(Command command, actor by) {
        return submit_by(std::move(command), std::move(by));
    }

    // The two phases: reserve, then fulfil, each durable in a batch of its own. A request whose key
    // is being worked on waits for that outcome. Errors as submit().
    boost::asio::awaitable<result<create_answer>> create(reserve request);

    // edit_task, wherever the account's tasks live. Errors as submit(), and unavailable: the other
    // server cannot be reached; nothing was done.
    boost::asio::awaitable<result<edit_task::answer>> edit(edit_task c);
    // Who does it where they live elsewhere. Outlives the requests.
    void edit_elsewhere_by(remote_editor& editor);

    // Answers a query on the reader executor. One whose claim is large has a transaction of its
    // own, and others do not wait behind it. errc::overloaded, deadline_exceeded (it was not
    // asked), store_unavailable, store_damaged or record_damaged if the store throws.
    template <class Query>
    boost::asio::awaitable<result<typename Query::answer>> ask(Query query);

    // Runs what would hold up the network thread, and asks the store nothing, on the executor for
    // that. One at a time. errc::overloaded, deadline_exceeded (it was not begun). What it throws
    // is thrown here.
    template <class Work>
    boost::asio::awaitable<result<std::invoke_result_t<Work&>>> offload(claim asks, Work work);
    // The same of what may be little: that is done here, at once.
    template <class Work>
    boost::asio::awaitable<result<std::invoke_result_t<Work&>>> offload_unless(bool is_little,
                                                                               claim asks,
                                                                               Work work);

    // Copies the store to a file that is not there yet, in steps between batches, and tells how far
    // it is. One at a time. A sentence: why it cannot be, and what is there is of no use.
    boost::asio::awaitable<std::optional<std::string>> copy_to(
        std::filesystem::path file, std::function<void(const amount_done&)> told);

    // Where to subscribe to what happens.
    hub& events() noexcept;

    // One bounded step of a sweep: reconcile_pending with everything now being created marked as
    // busy. The caller is on the network executor, so nothing can begin between the marking and the
    // queueing; and the server's own work is first in turn, so what begins after that is applied
    // after it.
    boost::asio::awaitable<result<reconcile_pending::answer>> reconcile(
        slot_id after, std::int64_t limit, per_class<milliseconds> window);
    // The same for an account that lives elsewhere.
    boost::asio::awaitable<result<fail_in_flight::answer>> reconcile(fail_in_flight c);

    // Whether so much would be refused for its share, if it came now: then it need not come. It is
    // counted as refused. Network executor.
    bool turns_away(const claim& asks);

    // How long a request may wait for its outcome.
    milliseconds request_deadline() const noexcept;

    // No further commands are taken; those queued are finished.
    void stop();
    // Completes when the queue is empty and the writer is at rest. After stop().
    boost::asio::awaitable<void> drained();

    // False once a commit's outcome was unknown or stop() was called.
    bool accepting() const noexcept;
    // False while damage stops writing: no commands are applied, questions are answered.
    bool writable() const noexcept;
    // Why writes are refused, if that will last: the disk is full, cannot be written, or may not
    // be, or has other bytes than were written. None once something was written again.
    const std::optional<store_failure>& write_trouble() const noexcept;
    // Finds out whether that is so, and when it is over, should nobody else write. Until stop().
    // Spawn once.
    boost::asio::awaitable<void> watch_writes();
    // Requests that wait or are under way.
    std::size_t queue_depth() const noexcept;
    // How far the wall clock was behind the store's time at the last batch; zero: it was not. Any
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
    // Not left to conversion: a result<bool> could be made of it two ways.
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
