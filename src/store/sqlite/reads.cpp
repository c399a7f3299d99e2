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

// Minus the id of a device.
author author_in(query& q, int column) {
    author by;
    const std::int64_t id = q.is_null(column) ? 0 : q.integer(column);
    if (id < 0) by = device_id{-id};
    if (id > 0) by = token_id{id};
    return by;
}

history_kind history_kind_of(query& q) {
    q.at("task_history", q.integer(3));
    return q.one_of(1, history_kind::whole, history_kind::purged);
}

}  // namespace

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

task task_row_of(query& q) {
    task t;
    q.at("tasks", q.integer(0));
    t.id = task_id{q.integer(0)};
    t.account = account_id{q.integer(1)};
    t.uuid = q.id(2);
    t.last_seq = q.integer(8);
    t.created_at = q.instant(9);
    t.purged = q.integer(10) != 0;
    t.attributes = attributes_in(q, 11);
    t.author = author_in(q, 12);
    if (!q.is_null(5)) {
        t.numbered = receipt{t.uuid, q.text(6), {}, q.integer(5), q.integer(7), t.created_at, true};
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

}  // namespace callsign::sqlite
