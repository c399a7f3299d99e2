#include "storage_checks.hpp"

#include "statements.hpp"

#include <utility>

namespace callsign::sqlite {
namespace {

constexpr std::pair<const char*, const char*> counted[] = {
    {"accounts", "SELECT count(*) FROM accounts"},
    {"series", "SELECT count(*) FROM series"},
    {"slots", "SELECT count(*) FROM slots"},
    {"tasks", "SELECT count(*) FROM tasks"},
    {"versions", "SELECT count(*) FROM versions"},
    {"sealed versions", "SELECT count(*) FROM sealed_versions"},
    {"fork versions", "SELECT count(*) FROM side_versions"},
    {"clients", "SELECT count(*) FROM devices"},
    {"effects", "SELECT count(*) FROM outbox"},
};

// Columns that must agree with others, where the port shows one of them, or refuses the row. Each
// is a query whose rows, one text each, are the offenders.
struct agreement {
    proof of;
    const char* offenders;
};

constexpr agreement agreements[] = {
    {{"I1", "every number is counted by a series of the task's own account, under a prefix it has"},
     "SELECT printf('task %d: number %d of series %d, and its counter is of series %s', t.task_id,"
     " t.number, t.series_id, coalesce(c.series_id, 'none'))"
     " FROM tasks t LEFT JOIN counters c ON c.counter_id = t.counter_id"
     " WHERE t.number IS NOT NULL AND c.series_id IS NOT t.series_id"},
    {{"I4", "a slot that is not committed holds no task, and a pending one no end"},
     "SELECT printf('slot %d: state %d, task %s, reason %d', slot_id, state, task_id, reason)"
     " FROM slots WHERE state NOT IN (1, 2, 3) OR (state = 2) <> (task_id IS NOT NULL)"
     " OR (state = 1) <> (settled_at IS NULL)"},
    {{"I4", "the totals count the slots"},
     "SELECT printf('totals say %d pending, %d in flight, %d committed, %d failed, last %d',"
     " o.pending, o.in_flight, o.committed, o.failed, o.last_slot) FROM totals o, (SELECT count(*)"
     " FILTER (WHERE state = 1 AND in_flight = 0) AS p, count(*) FILTER (WHERE state = 1 AND"
     " in_flight = 1) AS i, count(*) FILTER (WHERE state = 2) AS c, count(*) FILTER (WHERE state ="
     " 3) AS f, coalesce(max(slot_id), 0) AS m FROM slots) n WHERE (o.pending, o.in_flight,"
     " o.committed, o.failed) <> (n.p, n.i, n.c, n.f) OR o.last_slot < n.m"},
    {{"I8", "a client opens one account, and an opaque account has a client"},
     "SELECT printf('device %d: account %d is not there', d.device_id, d.account_id)"
     " FROM devices d LEFT JOIN accounts a ON a.account_id = d.account_id"
     " WHERE a.account_id IS NULL"},
    {{"file", "what a row belongs to is there"},
     "SELECT printf('%s, row %s: there is no such row of %s', \"table\", coalesce(rowid, '?'),"
     " parent) FROM pragma_foreign_key_check"},
    {{"file", "the file is sound"},
     "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'"},
};

}  // namespace

void check_storage(connection& db, findings& found) {
    check_part(found, {"file", "the rows are counted"}, [&] {
        for (const auto& [name, text] : counted) found.count(name, db.integer_of(text));
        found.report.last_moment = time_point{milliseconds{db.integer_of(sql::moment_last)}};
    });
    check_rows(db, found);
    for (const agreement& a : agreements) {
        check_part(found, a.of, [&] {
            auto q = db.use(a.offenders);
            while (q.step()) found.fault(a.of, q.text(0));
        });
    }
    check_keys(db, found);
}

}  // namespace callsign::sqlite
