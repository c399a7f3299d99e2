// Converts an opaque account to managed: its decrypted history replaces the sealed one, and its
// tasks are numbered. Large histories are stored in steps beside the sealed chain, unseen by
// queries; the last command switches. Until then the sealed chain is authoritative.

#include "chain_place.hpp"
#include "changes.hpp"
#include "numbering.hpp"
#include "read/walk.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/sealed.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace callsign::rules {
namespace {

// Limited, because a version is read as a whole.
constexpr std::size_t keys_of_version_max = 10'000;

// Creates the tasks. Returns the operations for version `seq`, which sets their keys.
std::vector<operation> number_brought(write_tx& tx, account_id account,
                                      std::span<const manage_account::made_task> tasks,
                                      std::int64_t seq, const moment& m) {
    std::vector<operation> keys;
    for (const auto& made : tasks) {
        auto known = tasks::find(tx, account, made.uuid);
        task t = known ? *std::move(known) : task{};
        t.attributes = made.attributes;
        // A task numbered while the account was opaque keeps its number.
        if (t.numbered) {
            t.last_seq = seq;
            if (auto key = correct_key(t, t.attributes, m)) keys.push_back(*std::move(key));
            tasks::reveal(tx, t.id, std::move(t.attributes), made.seq, t.last_seq);
            continue;
        }
        t.account = account;
        t.uuid = made.uuid;
        t.created_at = made.created_at;
        const series from = series_for(tx, account, {}, project_of(t.attributes));
        t.numbered = take_receipt(tx, from, t.uuid, m);
        t.current_prefix = from.prefix;
        t.numbered->seq = made.seq;
        t.numbered->created_at = made.created_at;
        t.last_seq = seq;
        if (auto key = correct_key(t, t.attributes, m)) keys.push_back(*std::move(key));
        tasks::put(tx, std::move(t), from.id);
    }
    return keys;
}

// Creates the tasks and appends versions with their keys. Returns the last version.
chain_head take_tasks(write_tx& tx, account_id account,
                      std::span<const manage_account::made_task> rest, chain_head last,
                      const moment& m) {
    while (!rest.empty()) {
        const auto some = rest.first(std::min(rest.size(), keys_of_version_max));
        rest = rest.subspan(some.size());
        if (m.key_attribute.empty()) {
            number_brought(tx, account, some, last.seq, m);
            continue;
        }
        auto keys = number_brought(tx, account, some, last.seq + 1, m);
        const version behind{last.seq + 1, m.ids.next(m.now), last.version, m.now, std::move(keys)};
        versions::take_over(tx, account, behind);
        last = {behind.seq, behind.id};
    }
    return last;
}

// Stores decrypted versions and tasks. Returns the last version.
chain_head take_over(write_tx& tx, account_id account, std::span<const version> history,
                     std::span<const manage_account::made_task> tasks, chain_head last,
                     const moment& m) {
    for (const version& v : history) {
        versions::take_over(tx, account, v);
        last = {v.seq, v.id};
    }
    return take_tasks(tx, account, tasks, last, m);
}

// Returns whether the chain is as it was decrypted, with as much stored as the command states.
template <class Command>
bool is_as_opened(write_tx& tx, const Command& c) {
    const chain_head head = accounts::head_of(tx, c.account);
    if (head.seq != c.head.seq || head.version != c.head.version) return false;
    return c.taken.seq == 0 || versions::find_seq(tx, c.account, c.taken.version) == c.taken.seq;
}

// Returns why the account cannot be converted, whatever its history.
template <class Command>
std::optional<typename Command::answer> rejection_to_convert(write_tx& tx, const Command& c) {
    const auto owner = accounts::find(tx, c.account);
    if (!owner) return no_such_account{};
    if (owner->mode != account_mode::opaque) return manage_account::not_opaque{};
    if (c.tasks.empty()) return std::nullopt;
    for (const series& s : all_series::of(tx, c.account)) {
        if (s.held) return series_held{s.prefix};
    }
    return std::nullopt;
}

}  // namespace

take_over_history::answer apply(write_tx& tx, const take_over_history& c, const moment& m) {
    if (auto rejected = rejection_to_convert(tx, c)) return *std::move(rejected);
    if (!is_as_opened(tx, c)) return manage_account::head_changed{};
    return take_over_history::went_on{take_over(tx, c.account, c.history, c.tasks, c.taken, m)};
}

manage_account::answer apply(write_tx& tx, const manage_account& c, const moment& m) {
    if (auto rejected = rejection_to_convert(tx, c)) return *std::move(rejected);
    if (accounts::head_of(tx, c.account).seq == 0) return manage_account::no_history{};
    if (!is_as_opened(tx, c)) return manage_account::head_changed{};
    const auto clients = devices::of(tx, c.account);
    if (clients.size() != 1) {
        throw_damaged("accounts", c.account.value, "an opaque account has one client id");
    }
    const chain_head last = take_over(tx, c.account, c.history, c.tasks, c.taken, m);
    accounts::become_managed(tx, c.account, last);
    if (c.taken.seq == 0) {
        for (const version& v : c.history) {
            sealed::remove(tx, c.account, v.parent);
            put_purges(tx, c.account, v.operations, v.seq);
        }
        snapshots::remove(tx, c.account);
    }
    devices::assign_key(tx, clients.front().id, c.device_name, c.sealed_key);
    m.tell(events::account_managed{c.account, clients.front().client_id});
    m.tell(events::version_appended{c.account, last.seq});
    return manage_account::managed{c.head.seq,
                                   c.taken_tasks + static_cast<std::int64_t>(c.tasks.size())};
}

undo_take_over::answer apply(write_tx& tx, const undo_take_over& c, const moment& /*m*/) {
    const auto owner = accounts::find(tx, c.account);
    const bool is_opaque = owner && owner->mode == account_mode::opaque;
    // Versions are stored before tasks, so without versions there are no tasks.
    if (!is_opaque || versions::some(tx, c.account, 0, 1).empty()) return {};
    std::size_t work = 0;
    if (!c.from.tasks_are_done) {
        std::vector<task> seen;
        task_walk all(tx, all_series::of(tx, c.account), c.from.after, {false, false, c.work_max},
                      [&](task&& t, series_id) {
                          work += work_of_row(t);
                          if (!t.purged) seen.push_back(std::move(t));
                          return true;
                      });
        for (const task& t : seen) tasks::conceal(tx, t.id);
        if (auto next = std::move(all).next()) {
            return {undo_take_over::place{std::move(next), false}};
        }
    }
    while (work < c.work_max) {
        const auto first = versions::some(tx, c.account, 0, 1);
        if (first.empty()) {
            tx.clear_log();  // the WAL has decrypted text
            return {};
        }
        work += work_of(first.front());
        versions::drop(tx, c.account, first.front().id);
    }
    return {undo_take_over::place{std::nullopt, true}};
}

remove_sealed::answer apply(write_tx& tx, const remove_sealed& c, const moment& /*m*/) {
    const auto owner = accounts::find(tx, c.account);
    const bool is_managed = owner && owner->mode == account_mode::managed;
    if (!is_managed || owner->state == account_state::removing) return {};
    const std::int64_t end = accounts::head_of(tx, c.account).sealed_seq;
    std::size_t work = 0;
    for (std::int64_t seq = c.from + 1; seq <= end; ++seq) {
        if (work >= c.work_max) return {seq - 1};
        const version v = version_at(tx, c.account, seq);
        put_purges(tx, c.account, v.operations, v.seq);
        work += work_of(v) + sealed::remove(tx, c.account, v.parent);
    }
    snapshots::remove(tx, c.account);
    return {};
}

}  // namespace callsign::rules
