#include "reads.hpp"

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

}  // namespace callsign::sqlite
