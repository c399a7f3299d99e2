#include "reads.hpp"

#include <callsign/base/assert.hpp>

#include <cstring>

namespace callsign::sqlite {
namespace {

digest digest_of(std::string_view bytes) {
    digest d{};
    CALLSIGN_ASSERT(bytes.size() == d.size());
    std::memcpy(d.data(), bytes.data(), d.size());
    return d;
}

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

account account_of(query& q) {
    return {account_id{q.integer(0)},
            q.text(1),
            q.text(2),
            q.integer(3),
            q.instant(4),
            static_cast<account_mode>(q.integer(5))};
}

series series_row_of(query& q) {
    return {series_id{q.integer(0)},
            account_id{q.integer(1)},
            q.text(2),
            q.text(3),
            q.integer(4) != 0,
            q.integer(5)};
}

token token_of(query& q) {
    return {token_id{q.integer(0)},
            maybe_id<account_id>(q, 1),
            q.text(2),
            static_cast<token_scope>(q.integer(3)),
            q.instant(4),
            maybe_instant(q, 5)};
}

slot slot_of(query& q) {
    slot s;
    s.id = slot_id{q.integer(0)};
    s.account = account_id{q.integer(1)};
    s.key = q.text(2);
    s.fingerprint = digest_of(q.blob(3));
    s.uuid = q.id(4);
    s.created_at = q.instant(5);
    s.attempts = q.integer(6);
    s.created = q.integer(7) != 0;
    s.reason = static_cast<failure_reason>(q.integer(8));
    s.state = static_cast<slot_state>(q.integer(9));
    s.task = maybe_id<task_id>(q, 10);
    s.settled_at = maybe_instant(q, 11);
    return s;
}

task task_of(query& q) {
    task t;
    t.id = task_id{q.integer(0)};
    t.account = account_id{q.integer(1)};
    t.uuid = q.id(2);
    t.current_prefix = q.text(3);
    t.last_seq = q.integer(8);
    t.created_at = q.instant(9);
    t.purged = q.integer(10) != 0;
    t.attributes = decode_attributes(q.blob(11));
    if (!q.is_null(5)) {
        t.numbered =
            receipt{t.uuid, q.text(6), q.text(4), q.integer(5), q.integer(7), t.created_at, true};
    }
    return t;
}

principal principal_of(query& q) {
    return {token_id{q.integer(0)}, maybe_id<account_id>(q, 1),
            static_cast<token_scope>(q.integer(2)), static_cast<account_mode>(q.integer(3))};
}

device device_of(query& q) {
    device d;
    d.id = device_id{q.integer(0)};
    d.client_id = q.id(1);
    d.account = account_id{q.integer(2)};
    d.mode = static_cast<account_mode>(q.integer(3));
    d.name = q.text(4);
    if (!q.is_null(5)) d.sealed_key = q.blob(5);
    d.created_at = q.instant(6);
    d.revoked_at = maybe_instant(q, 7);
    return d;
}

chain_head head_of(query& q) {
    return {q.integer(0), q.id(1), q.integer(2)};
}

sealed_version sealed_version_of(query& q) {
    return {q.integer(0), q.id(1), q.id(2), q.instant(3), std::string(q.blob(4))};
}

std::size_t byte_count_of(query& q) {
    return static_cast<std::size_t>(q.integer(0));
}

snapshot_mark snapshot_mark_of(query& q) {
    return {q.id(0), q.integer(1), q.integer(2), q.instant(3)};
}

sealed_snapshot snapshot_of(query& q) {
    return {snapshot_mark_of(q), std::string(q.blob(4))};
}

side_version side_version_of(query& q) {
    side_version side{q.id(0), q.integer(1), q.instant(2), {}, {}, q.id(4)};
    if (!decode_way(q.blob(3), side)) {
        throw store_failure(store_failure::kind::refused,
                            "damaged: side_versions, version " + to_string(side.id));
    }
    return side;
}

version version_of(query& q) {
    return {q.integer(0), q.id(1), q.id(2), q.instant(3), decode_operations(q.blob(4))};
}

}  // namespace callsign::sqlite
