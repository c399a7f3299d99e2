#pragma once
// The batch log of a database that several servers can reach (docs/nodes.md). Each write
// transaction appends row n = last + 1; the server that wrote the last row owns the store. A second
// server takes the store over by writing the next row: no batch of the former owner can follow it.
// The same row is the owner's heartbeat, and decides what became of a COMMIT without an answer.
//
// No wall clock and no clock of another machine is compared: all spans are of this server's
// monotonic clock, which counts sleep.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/ports/clock.hpp>
#include <callsign/ports/store_failure.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

namespace callsign {

enum class log_kind : std::uint8_t {
    takeover = 1,
    batch,
    heartbeat,
    nothing,  // prevents a batch whose outcome was unknown
    release,  // the owner has stopped
    moving,   // a move to this database is in progress or unfinished: servers wait
    moved,    // the store was moved to another place
};

struct log_row {
    std::int64_t n = 0;
    uuid owner{};  // a run of a server
    log_kind kind = log_kind::batch;
    // The log had reached this row, and the database has lost it: numbers may have been assigned
    // that the store does not contain. Zero: nothing is lost.
    std::int64_t lost_through = 0;

    friend bool operator==(const log_row&, const log_row&) = default;
};

struct log_options {
    // An owner appends a heartbeat after this time without a batch.
    milliseconds heartbeat{2'000};
    // An owner reads and responds for this long after it sent its last acknowledged row.
    milliseconds hold{4'000};
    // The store of a silent owner may be taken over after this time. Must exceed `hold`: the
    // clocks of two machines may run at different speeds.
    milliseconds lease{6'000};
    // An unknown COMMIT is decided within this time, or the owner stops.
    milliseconds decide{30'000};
    milliseconds retry{200};
    // The owner is no server, but moves the store here or away (log_kind::moving).
    bool moves = false;
};

// What a row writes besides itself. Only the database knows the type.
struct log_writes {
    virtual ~log_writes() = default;
};

// A database that keeps a log. Any call may fail at any moment.
class log_database {
  public:
    enum class outcome {
        committed,
        // The log has a row n already, or not the row before it: nothing was written.
        conflict,
        unknown,  // there was no answer, or one with a warning
    };

    virtual ~log_database() = default;

    // Appends the row and its writes in one transaction. `after`: the owner of the row before it; a
    // nil UUID: the row is the first. If that is another one, the row before must be the one that
    // last() returned: a failover since then is a conflict. `writes` null: only the row. Throws
    // store_failure: nothing was written.
    virtual outcome append(const log_row& row, const uuid& after, const log_writes* writes) = 0;
    // Returns the last row; none: the log is empty. Throws store_failure.
    virtual std::optional<log_row> last() = 0;
    // Returns row n; none: there is none. Throws store_failure.
    virtual std::optional<log_row> find(std::int64_t n) = 0;
};

// The owner's end of the log. Threads: the writer's, except is_held() and held_for().
class batch_log {
  public:
    // `pause` waits between attempts to decide an unknown outcome. `owner`: this run of a server.
    batch_log(log_database& database, clock& clock, const uuid& owner, const log_options& options,
              std::function<void(milliseconds)> pause);

    // Appends the row after `last`, a takeover, with its writes. False: it was not appended;
    // another server may have been first. Throws store_failure: not taken over, or, with
    // kind::unknown, it cannot be decided. `highest_seen`: of log_watch.
    bool take_over(const std::optional<log_row>& last, std::int64_t highest_seen,
                   const log_writes* writes = nullptr);
    // Appends a batch with its writes. Throws store_failure, with kind::moved if another server
    // owns the store, or kind::unknown: in both cases nothing more may be written, and this run
    // must end.
    void append(const log_writes& writes);
    // Appends a heartbeat if one is due. Throws store_failure, as append().
    void keep();
    // As keep(), now.
    void prove();
    // Ends this ownership: another server can take over at once. Errors are ignored.
    void release() noexcept { end(log_kind::release); }
    // Ends it by a row of this kind.
    void end(log_kind how) noexcept;

    // The last row was sent less than `hold` ago, and another server cannot have taken over since.
    bool is_held() const noexcept;
    // Throws store_failure (`moved`, if it is known, otherwise `rejected`) unless is_held().
    void expect_held() const;
    const uuid& owner() const noexcept { return owner_; }
    // The last acknowledged row. Any thread.
    std::int64_t last() const noexcept { return last_; }

    // See log_row. Any thread, as the next.
    std::int64_t lost_through() const noexcept { return lost_through_; }
    // The loss was handled; the next row says so.
    void forget_loss() noexcept { lost_through_ = 0; }

  private:
    using outcome = log_database::outcome;

    log_kind kind_of(log_kind each) const { return options_.moves ? log_kind::moving : each; }
    outcome try_append(const log_row& row, const uuid& after, const log_writes* writes);
    void append(log_kind kind, const log_writes* writes);
    bool decide(const log_row& row);
    [[noreturn]] void lose();
    [[noreturn]] void explain_conflict();
    [[noreturn]] void history_lost(const std::optional<log_row>& last);

    log_database& database_;
    clock& clock_;
    uuid owner_;
    log_options options_;
    std::function<void(milliseconds)> pause_;
    std::atomic<std::int64_t> last_ = 0;
    uuid after_{};  // the owner of that row
    std::atomic<std::int64_t> lost_through_ = 0;
    std::atomic<milliseconds> sent_{milliseconds::min() / 2};  // the last acknowledged row
    std::atomic<bool> is_lost_{false};
};

// A standby's end of the log: when may the store be taken over? One thread.
class log_watch {
  public:
    log_watch(log_database& database, clock& clock, const log_options& options)
        : database_(database), clock_(clock), options_(options) {}

    // Looks at the log. True: the store may be taken over now. Throws store_failure: the database
    // cannot be read, and the owner's silence is measured from the next look on.
    bool look();
    const std::optional<log_row>& last() const noexcept { return last_; }
    // The highest row that was ever seen.
    std::int64_t highest_seen() const noexcept { return highest_; }

  private:
    log_database& database_;
    clock& clock_;
    log_options options_;
    std::optional<log_row> last_;
    std::int64_t highest_ = 0;
    std::optional<milliseconds> silent_since_;
};

}  // namespace callsign
