#pragma once
// Shared by the parts of the auditor: invariants, the state of one account's audit, and reading
// rows around corruption.

#include <callsign/domain/findings.hpp>
#include <callsign/ports/store.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace callsign::rules::auditing {

namespace proofs {
inline constexpr proof readable{"file", "every row can be read"};
inline constexpr proof slot_totals{"I4", "the totals match the slots"};
inline constexpr proof totals{"I4", "the totals match the rows"};
inline constexpr proof last_ids{"file", "no row has an ID after the last assigned one"};
inline constexpr proof stored_bytes{"file", "each account's stored bytes are correct"};
inline constexpr proof numbers{"I1", "the numbers of each series and period are exactly 1..n"};
inline constexpr proof counted{
    "I1", "every number belongs to a series of the task's account, under one of its prefixes"};
inline constexpr proof every_task{"I2", "every task has a number and the version that created it"};
inline constexpr proof one_slot{"I3", "a key has one slot"};
inline constexpr proof slot_task{"I3", "a committed slot's task exists, with the reserved UUID"};
inline constexpr proof one_maker{"I3", "a task was created by at most one slot"};
inline constexpr proof slot_state{
    "I4", "an uncommitted slot has no task, and a pending slot no end time"};
inline constexpr proof in_flight{"I4", "a slot is in flight while its creation is in the outbox"};
inline constexpr proof seqs{"I6", "each account's chain has seq 1..n without gaps"};
inline constexpr proof own_kind{"I6", "an account's versions are of its own kind"};
inline constexpr proof sealed_parents{
    "I6", "each sealed version's parent is the one before it, and the head is the last"};
inline constexpr proof sealed_once{
    "I6", "no sealed version is its own ancestor, and none is a parent twice"};
inline constexpr proof snapshots{"I6", "a snapshot is of a version of its account's chain"};
inline constexpr proof device_keys{
    "I8", "a device of a managed account has a key, and one of an opaque account has none"};
inline constexpr proof clients{
    "I8", "a client ID belongs to one account, and an opaque account has a client ID"};
inline constexpr proof remotes{"file", "an account is remote if and only if it has a remote chain"};
inline constexpr proof parents{
    "I6", "each version's parent is the one before it, and the head is the last"};
inline constexpr proof sides{
    "I6", "a fork version leads back to its account's chain, and is not on it itself"};
// One check for two invariants.
inline constexpr proof makers{
    "I2",
    "a task's version is the one that created it, and the tasks that a version created exist"};
inline constexpr proof made{"I1", makers.sentence};
inline constexpr proof replay{"I6", "the tasks match the chain"};
inline constexpr proof history{"I6", "the history of each task matches the chain"};
}  // namespace proofs

// ---- one account ----

// Summary of a task, kept until its chain has been read.
struct kept_task {
    callsign::uuid uuid{};
    std::int64_t seq = 0;
    std::int64_t last_seq = 0;
    std::size_t said = 0;  // hash of its attributes
    bool numbered = true;
    bool purged = false;
    bool was_made = false;         // created by the version that its receipt names
    bool was_made_before = false;  // created by an earlier version
};

struct subject {
    const account& owner;
    std::string who;
    std::optional<std::span<const sealed_link>> sealed{};  // by seq; none: some are unreadable
    std::vector<kept_task> tasks{};                        // by uuid
    bool all_tasks_read = true;
};

inline std::string name_of(account_id id) {
    return "account " + std::to_string(id.value) + ": ";
}

kept_task keep(const task& t);
std::size_t hash_of(const attributes& all);
// Returns a hash of 64 bits that identifies a task and its account.
std::size_t mark_of(task_id id, account_id account, const uuid& uuid);

struct looked_up {
    bool readable = true;
    std::optional<task> row;
};
looked_up look_up(read_tx& tx, account_id account, const uuid& id);

struct tally {
    std::vector<std::size_t> tasks;  // mark_of() of each task
    std::int64_t operations = 0;
    std::int64_t chains_replayed = 0;
};

// Audits all tables.
void look_at_rows(read_tx& tx, findings& found);
// Audits each series of the account. Adds its tasks to the subject, ordered by UUID, and their
// marks to the tally.
void look_at_tasks(read_tx& tx, findings& found, subject& s, tally& all);
// Requires: look_at_tasks() has run. `sides`: the account's fork versions, by seq.
void look_at_chain(read_tx& tx, findings& found, subject& s, std::span<const fork_return> sides,
                   tally& all);
// `links`: the account's sealed versions, by seq.
void look_at_sealed_chain(read_tx& tx, findings& found, const subject& s,
                          std::span<const sealed_link> links);
// Audits the slots of all accounts. Requires: the tally has the marks of all tasks.
void look_at_slots(read_tx& tx, findings& found, tally& all);

// ---- reading ----

// Few, because whole rows may be large.
inline constexpr std::int64_t whole_rows_at_once = 8;

inline constexpr std::int64_t no_more = std::numeric_limits<std::int64_t>::max();

// Returns the first place after `last`, in doubling steps, behind which rows are readable, or none.
// `read_behind(place)` throws store_failure if they are not.
template <class ReadBehind>
std::optional<std::int64_t> next_readable(std::int64_t last, ReadBehind read_behind) {
    const std::int64_t from = std::max<std::int64_t>(last, 0);
    for (int step = 0; step < 62; ++step) {
        const std::int64_t far = std::int64_t{1} << step;
        if (from > std::numeric_limits<std::int64_t>::max() - far) break;
        const std::int64_t place = from + far;
        try {
            read_behind(place);
            return place;
        } catch (const store_failure&) {
            // Still unreadable.
        }
    }
    return std::nullopt;
}

// Reads rows in the order of `place_of(row)`. Skips unreadable ones and calls `passed(from, to,
// why)` for the places after `from` through `to`. `page(after, limit)` queries the store;
// `see(row)` must not throw store_failure.
template <class Page, class PlaceOf, class See, class Passed>
void each_row(std::int64_t page_rows, Page page, PlaceOf place_of, See see, Passed passed) {
    const auto in_order = [&](std::int64_t before, const auto& row) {
        if (place_of(row) <= before) {
            throw store_failure(store_failure::kind::damaged, "damaged: rows out of order");
        }
        return place_of(row);
    };
    std::int64_t after = std::numeric_limits<std::int64_t>::min();
    for (std::int64_t limit = page_rows;;) {
        std::string why;
        try {
            const auto rows = page(after, limit);
            for (const auto& row : rows) {
                after = in_order(after, row);
                see(row);
            }
            if (std::ssize(rows) < limit) return;
            limit = std::min(2 * limit, page_rows);
            continue;
        } catch (const store_failure& failure) {
            why = failure.what();
        }
        if (limit > 1) {
            limit /= 2;
            continue;
        }
        const auto next = next_readable(after, [&](std::int64_t place) {
            for (const auto& row : page(place, 1)) in_order(place, row);
        });
        passed(after, next.value_or(no_more), why);
        if (!next) return;
        after = *next;
    }
}

// Returns the range after `from` through `to` as text.
std::string between(std::int64_t from, std::int64_t to);

}  // namespace callsign::rules::auditing
