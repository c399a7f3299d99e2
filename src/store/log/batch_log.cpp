#include <callsign/store/batch_log.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace callsign {

using kind = store_failure::kind;
using outcome = log_database::outcome;

namespace {

constexpr char taken_over[] = "another server has taken over the store";

}  // namespace

batch_log::batch_log(log_database& database, clock& clock, const uuid& owner,
                     const log_options& options, std::function<void(milliseconds)> pause)
    : database_(database),
      clock_(clock),
      owner_(owner),
      options_(options),
      pause_(std::move(pause)) {}

bool batch_log::take_over(const std::optional<log_row>& last, std::int64_t highest_seen,
                          const log_writes* writes) {
    last_ = last ? last->n : 0;
    after_ = last ? last->owner : uuid{};
    lost_through_ = last ? last->lost_through : 0;
    if (highest_seen > last_) lost_through_ = std::max(lost_through_.load(), highest_seen);
    const log_row row{last_ + 1, owner_, kind_of(log_kind::takeover), lost_through_};
    const outcome its = try_append(row, after_, writes);
    return its == outcome::committed || (its == outcome::unknown && decide(row));
}

void batch_log::append(const log_writes& writes) {
    append(kind_of(log_kind::batch), &writes);
}

void batch_log::keep() {
    if (clock_.elapsed() - sent_.load() >= options_.heartbeat) prove();
}

void batch_log::prove() {
    append(kind_of(log_kind::heartbeat), nullptr);
}

void batch_log::end(log_kind how) noexcept {
    if (is_lost_) return;
    is_lost_ = true;
    try {
        database_.append({last_ + 1, owner_, how, lost_through_}, after_, nullptr);
    } catch (const store_failure&) {
        // Another server waits for the lease.
    }
}

bool batch_log::is_held() const noexcept {
    return !is_lost_ && clock_.elapsed() - sent_.load() < options_.hold;
}

void batch_log::expect_held() const {
    if (is_held()) return;
    if (is_lost_) throw store_failure(kind::moved, taken_over);
    throw store_failure(kind::rejected, "no row of the batch log was acknowledged in time");
}

void batch_log::append(log_kind of, const log_writes* writes) {
    if (is_lost_) lose();
    const log_row row{last_ + 1, owner_, of, lost_through_};
    switch (try_append(row, after_, writes)) {
    case outcome::committed: return;
    case outcome::conflict: explain_conflict();
    case outcome::unknown: break;
    }
    if (decide(row)) return;
    throw store_failure(kind::rejected, "the database did not commit the batch");
}

outcome batch_log::try_append(const log_row& row, const uuid& after, const log_writes* writes) {
    const milliseconds sent = clock_.elapsed();
    const outcome its = database_.append(row, after, writes);
    if (its == outcome::committed) {
        last_ = row.n;
        after_ = owner_;
        sent_ = sent;
    }
    return its;
}

// Returns whether the row was committed. If it was not, it never will be: another row has its
// place. A row that can be read may still be lost, for example with a primary that has no standby
// any more, until a later row is acknowledged.
bool batch_log::decide(const log_row& row) {
    if (options_.moves) {
        // A row in its place would let a server take over what was not moved completely.
        is_lost_ = true;
        throw store_failure(kind::unknown, "a commit has no answer; run the move again");
    }
    const milliseconds until = clock_.elapsed() + options_.decide;
    for (; clock_.elapsed() < until; pause_(options_.retry)) {
        try {
            const auto last = database_.last();
            const std::int64_t reached = last ? last->n : 0;
            if (reached < row.n - 1) history_lost(last);
            if (reached < row.n) {
                const log_row instead{row.n, owner_, log_kind::nothing, row.lost_through};
                const uuid after = last ? last->owner : uuid{};
                if (try_append(instead, after, nullptr) == outcome::committed) return false;
                continue;
            }
            const auto its = database_.find(row.n);
            if (!its || its->owner != owner_) lose();
            if (last->owner != owner_) break;
            const log_row next{last->n + 1, owner_, log_kind::heartbeat, row.lost_through};
            if (try_append(next, owner_, nullptr) == outcome::committed) {
                return its->kind == row.kind;
            }
        } catch (const store_failure& failure) {
            if (!failure.is_transient()) throw;
        }
    }
    is_lost_ = true;
    throw store_failure(kind::unknown, "it is unknown whether the database committed a batch");
}

void batch_log::lose() {
    is_lost_ = true;
    throw store_failure(kind::moved, taken_over);
}

void batch_log::explain_conflict() {
    const auto last = database_.last();
    const auto mine = last && last->n >= last_ ? database_.find(last_) : std::nullopt;
    if (!mine || mine->owner != after_) history_lost(last);
    lose();
}

// Appends a row that says so, since the next run does not know it.
void batch_log::history_lost(const std::optional<log_row>& last) {
    is_lost_ = true;
    std::string why = "the database has lost committed batches, up to " + std::to_string(last_);
    const bool is_own = last && last->owner == owner_ && last->n < last_;
    const auto record = [&] {
        const log_row row{last->n + 1, owner_, log_kind::takeover, last_};
        return database_.append(row, owner_, nullptr) == outcome::committed;
    };
    if (!is_own || !record()) why += "; run `callsign restored` before numbers are assigned";
    throw store_failure(kind::unknown, why);
}

bool log_watch::look() {
    std::optional<log_row> now;
    try {
        now = database_.last();
    } catch (const store_failure&) {
        silent_since_.reset();
        throw;
    }
    if (now) highest_ = std::max(highest_, now->n);
    if (!silent_since_ || now != last_) silent_since_ = clock_.elapsed();
    last_ = now;
    if (!now || now->kind == log_kind::release) return true;
    const bool is_for_movers = now->kind == log_kind::moving || now->kind == log_kind::moved;
    if (is_for_movers && !options_.moves) return false;
    return clock_.elapsed() - *silent_since_ >= options_.lease;
}

}  // namespace callsign
