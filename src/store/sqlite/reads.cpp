#include "reads.hpp"

#include <callsign/domain/work.hpp>

namespace callsign::sqlite {
namespace {

std::optional<time_point> maybe_instant(query& q, int column) {
    if (q.is_null(column)) return std::nullopt;
    return q.instant(column);
}

template <class Id>
std::optional<Id> maybe_id(query& q, int column) {
    if (q.is_null(column)) return std::nullopt;
    return Id{q.integer(column)};
}

attributes attributes_in(query& q, int column) {
    auto all = decode_attributes(q.blob(column));
    if (!all) q.damaged("its attributes");
    q.worked(work_of_attribute * all->size());
    return std::move(*all);
}

std::vector<operation> operations_in(query& q, int column) {
    auto all = decode_operations(q.blob(column));
    if (!all) q.damaged("its operations");
    q.worked(work_of_operation * all->size());
    return std::move(*all);
}

// Minus the id of a device.
author author_in(query& q, int column) {
    if (q.is_null(column)) return {};
    const std::int64_t id = q.integer(column);
    if (id < 0) return device_id{-id};
    return token_id{id};
}

account_mode mode_in(query& q, int column) {
    return q.one_of(column, account_mode::managed, account_mode::opaque);
}

history_kind history_kind_of(query& q) {
    q.at("task_history", q.integer(3));
    return q.one_of(1, history_kind::whole, history_kind::purged);
}

}  // namespace

account account_of(query& q) {
    q.at("accounts", q.integer(0));
    return {account_id{q.integer(0)},
            q.text(1),
            q.text(2),
            q.integer(3),
            q.instant(4),
            mode_in(q, 5),
            q.integer(6) != 0,
            account_state_in(q, 7),
            maybe_instant(q, 8),
            q.integer(9)};
}

series series_row_of(query& q) {
    q.at("series", q.integer(0));
    return {series_id{q.integer(0)},
            account_id{q.integer(1)},
            q.text(2),
            q.text(3),
            q.integer(4) != 0,
            q.integer(5),
            q.text(6),
            q.one_of(7, reset_policy::never, reset_policy::yearly),
            q.text(8),
            q.integer(9) != 0,
            q.integer(10) != 0,
            q.integer(11) != 0,
            q.integer(12) != 0};
}

slot slot_of(query& q) {
    slot s;
    q.at("slots", q.integer(0));
    s.id = slot_id{q.integer(0)};
    s.account = account_id{q.integer(1)};
    s.key = q.text(2);
    s.fingerprint = q.hash(3);
    s.uuid = q.id(4);
    s.created_at = q.instant(5);
    s.attempts = q.integer(6);
    s.created = q.integer(7) != 0;
    s.reason = q.one_of(8, failure_reason::none, failure_reason::not_delivered);
    s.state = q.one_of(9, slot_state::pending, slot_state::failed);
    s.task = maybe_id<task_id>(q, 10);
    s.settled_at = maybe_instant(q, 11);
    const bool in_order = (s.state == slot_state::committed) == s.task.has_value() &&
                          (s.state == slot_state::pending) != s.settled_at.has_value();
    if (!in_order) q.damaged("its state");
    if (s.state == slot_state::pending && q.integer(12) != 0) s.state = slot_state::in_flight;
    return s;
}

task task_of(query& q) {
    task t;
    q.at("tasks", q.integer(0));
    t.id = task_id{q.integer(0)};
    t.account = account_id{q.integer(1)};
    t.uuid = q.id(2);
    t.current_prefix = q.text(3);
    t.last_seq = q.integer(8);
    t.created_at = q.instant(9);
    t.purged = q.integer(10) != 0;
    t.attributes = attributes_in(q, 11);
    t.author = author_in(q, 12);
    if (!q.is_null(5)) {
        t.numbered =
            receipt{t.uuid, q.text(6), q.text(4), q.integer(5), q.integer(7), t.created_at, true};
    }
    return t;
}

history_kind history_row_of(query& q) {
    const auto kind = history_kind_of(q);
    attributes_in(q, 2);  // a way back has the same form
    return kind;
}

bool go_back(query& q, task& t) {
    if (!q.step()) return false;
    const std::int64_t seq = q.integer(0);
    std::vector<std::string> ways;
    auto kind = history_kind_of(q);
    bool is_purged = t.purged;
    for (bool found = true; found; found = q.step()) {
        kind = history_kind_of(q);
        if (kind == history_kind::way_back) {
            ways.emplace_back(q.blob(2));
            continue;
        }
        t.attributes = attributes_in(q, 2);
        is_purged = kind == history_kind::purged;
        break;
    }
    if (is_purged && !ways.empty()) q.damaged("nothing to go back from");
    for (auto way = ways.rbegin(); way != ways.rend(); ++way) {
        if (!go_back(*way, t.attributes)) q.damaged("its attributes");
    }
    t.purged = is_purged;
    t.last_seq = seq;
    return true;
}

remote_chain remote_of(query& q) {
    q.at("remotes", q.integer(0));
    remote_chain r;
    r.account = account_id{q.integer(0)};
    r.url = q.text(1);
    r.client_id = q.id(2);
    r.sealed_key = q.blob(3);
    r.cursor = q.id(4);
    r.before = q.id(5);
    r.partial = q.id(6);
    r.partial_operations = q.integer(7);
    r.halted = q.one_of(8, remote_halt::none, remote_halt::incomplete);
    if (q.integer(9) == 0) return r;
    r.moving = moving_tasks{{}, q.integer(13)};
    if (!q.is_null(10)) {
        r.moving->after = task_place{series_id{q.integer(10)}, q.text(11), q.integer(12)};
    }
    return r;
}

device device_of(query& q) {
    device d;
    q.at("devices", q.integer(0));
    d.id = device_id{q.integer(0)};
    d.client_id = q.id(1);
    d.account = account_id{q.integer(2)};
    d.mode = mode_in(q, 3);
    d.name = q.text(4);
    if (!q.is_null(5)) d.sealed_key = q.blob(5);
    d.created_at = q.instant(6);
    d.revoked_at = maybe_instant(q, 7);
    if (!q.is_null(8)) {
        d.resync = {q.integer(8), q.one_of(9, resync::state::expected, resync::state::returned)};
    }
    d.account_name = q.text(10);
    d.state = account_state_in(q, 11);
    return d;
}

account_state account_state_in(query& q, int column) {
    return q.one_of(column, account_state::active, account_state::going);
}

chain_head head_of(query& q) {
    q.at("accounts by last_seq", q.integer(0));
    return {q.integer(0), q.id(1), q.integer(2)};
}

sealed_version sealed_version_of(query& q) {
    q.at("sealed_versions by seq", q.integer(0));
    return {q.integer(0), q.id(1), q.id(2), q.instant(3), std::string(q.blob(4))};
}

std::size_t byte_count_of(query& q) {
    return static_cast<std::size_t>(q.integer(0));
}

numbers_given numbers_given_of(query& q) {
    return {q.text(0), q.integer(1)};
}

numbers_skipped numbers_skipped_of(query& q) {
    return {q.text(0), q.integer(1), q.integer(2)};
}

fork_return fork_return_of(query& q) {
    q.at("fork_versions by seq", q.integer(2));
    return {q.id(0), account_id{q.integer(1)}, q.integer(2)};
}

sealed_link sealed_link_of(query& q) {
    q.at("sealed_versions", q.integer(0));
    return {q.integer(0), account_id{q.integer(1)}, q.integer(2), q.id(3), q.id(4)};
}

snapshot_mark snapshot_mark_of(query& q) {
    q.at("sealed_snapshots by seq", q.integer(1));
    return {q.id(0), q.integer(1), q.integer(2), q.instant(3)};
}

sealed_snapshot snapshot_of(query& q) {
    return {snapshot_mark_of(q), std::string(q.blob(4))};
}

fork_version fork_version_of(query& q) {
    q.at("fork_versions by left_at", q.integer(1));
    fork_version side{q.id(0), q.integer(1), q.instant(2), {}, {}, {}};
    if (!decode_way(q.blob(3), side)) q.damaged("its way");
    return side;
}

version version_of(query& q) {
    q.at("versions", q.integer(6));
    return {q.integer(0), q.id(1), q.id(2), q.instant(3), operations_in(q, 4), author_in(q, 5)};
}

}  // namespace callsign::sqlite
