#include "tools/storage_checks.hpp"

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
    {"fork versions", "SELECT count(*) FROM fork_versions"},
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
     " FROM slots WHERE state NOT IN (1, 2, 3, 4) OR (state = 2) <> (task_id IS NOT NULL)"
     " OR (state IN (1, 4)) <> (settled_at IS NULL)"},
    {{"I4", "the totals count the slots"},
     "SELECT printf('totals say %d pending, %d in flight, %d committed, %d failed, last %d',"
     " o.pending, o.in_flight, o.committed, o.failed, o.last_slot) FROM totals o, (SELECT count(*)"
     " FILTER (WHERE state = 1) AS p, count(*) FILTER (WHERE state = 4) AS i, count(*) FILTER "
     "(WHERE state = 2) AS c, count(*) FILTER (WHERE state ="
     " 3) AS f, coalesce(max(slot_id), 0) AS m FROM slots) n WHERE (o.pending, o.in_flight,"
     " o.committed, o.failed) <> (n.p, n.i, n.c, n.f) OR o.last_slot < n.m"},
    {{"file", "no row is ahead of the last id that was given"},
     "SELECT printf('the last id of %s is said to be %d, and there is %d', t, said, there) FROM ("
     "SELECT 'accounts' AS t, last_account AS said, (SELECT max(account_id) FROM accounts) AS there"
     " FROM totals"
     " UNION ALL SELECT 'series', last_series, (SELECT max(series_id) FROM series) FROM totals"
     " UNION ALL SELECT 'counters', last_counter, (SELECT max(counter_id) FROM counters) FROM "
     "totals"
     " UNION ALL SELECT 'tokens', last_token, (SELECT max(token_id) FROM tokens) FROM totals"
     " UNION ALL SELECT 'devices', last_device, (SELECT max(device_id) FROM devices) FROM totals"
     " UNION ALL SELECT 'webhooks', last_webhook, (SELECT max(webhook_id) FROM webhooks) FROM "
     "totals"
     " UNION ALL SELECT 'webhook_deliveries', last_delivery,"
     " (SELECT max(delivery_id) FROM webhook_deliveries) FROM totals"
     " UNION ALL SELECT 'admin_actions', last_action, (SELECT max(action_id) FROM admin_actions)"
     " FROM totals"
     " UNION ALL SELECT 'outbox', last_effect, (SELECT max(effect_id) FROM outbox) FROM totals"
     " UNION ALL SELECT 'sealed_versions', last_sealed,"
     " (SELECT max(sealed_id) FROM sealed_versions) FROM totals"
     " UNION ALL SELECT 'task_history', last_history, (SELECT max(history_id) FROM task_history)"
     " FROM totals"
     " UNION ALL SELECT 'tasks', last_task, (SELECT max(task_id) FROM tasks) FROM totals"
     " UNION ALL SELECT 'versions', last_version, (SELECT max(version_row) FROM versions)"
     " FROM totals) WHERE there > said"},
    {{"I4", "a slot that is pending for long is listed, and no other"},
     "SELECT printf('slot %d is pending, and not listed', s.slot_id) FROM slots s LEFT JOIN"
     " pending_slots p ON p.slot_id = s.slot_id WHERE s.state IN (1, 4) AND s.slot_id <= (SELECT"
     " pending_through FROM index_progress) AND (p.account_id, p.task_uuid) IS NOT (s.account_id, "
     "s.uuid)"
     " UNION ALL SELECT printf('slot %d is listed, and not pending', p.slot_id) FROM pending_slots "
     "p"
     " LEFT JOIN slots s ON s.slot_id = p.slot_id WHERE s.state IS NULL OR s.state IN (2, 3) OR "
     "p.slot_id > (SELECT"
     " pending_through FROM index_progress)"},
    {{"I4", "the totals count what there is"},
     "SELECT printf('totals say %d %s, and there are %d', said, t, there) FROM ("
     "SELECT 'accounts' AS t, accounts AS said, (SELECT count(*) FROM accounts) AS there FROM "
     "totals"
     " UNION ALL SELECT 'tasks', tasks, (SELECT count(*) FROM tasks) FROM totals"
     " UNION ALL SELECT 'open tasks', open_tasks, (SELECT count(*) FROM tasks WHERE number IS NOT"
     " NULL AND over = 0) FROM totals"
     " UNION ALL SELECT 'held series', held_series, (SELECT count(*) FROM series WHERE held) FROM"
     " totals) WHERE said <> there"},
    {{"file", "each account's bytes are counted"},
     "SELECT printf('account %d: %d bytes are said to be stored, and there are %d', a.account_id,"
     " a.stored_bytes, coalesce(n.bytes, 0)) FROM accounts a LEFT JOIN (SELECT account_id,"
     " sum(bytes) AS bytes FROM (SELECT account_id, bytes FROM versions"
     " UNION ALL SELECT account_id, length(segment) FROM sealed_versions"
     " UNION ALL SELECT account_id, length(bytes) FROM sealed_snapshots) GROUP BY account_id) n"
     " ON n.account_id = a.account_id WHERE a.stored_bytes <> coalesce(n.bytes, 0)"
     " AND a.state <> 4"},
    // What waits in memory is made of the rows behind, and has no proof of its own.
    {{"I1", "the index of numbers has every task, as it is"},
     "SELECT printf('task %d: number %d of counter %d is not in the index', t.task_id, t.number,"
     " t.counter_id) FROM tasks t LEFT JOIN task_numbers n ON n.counter_id = t.counter_id AND"
     " n.over = t.over AND n.number = t.number WHERE t.number IS NOT NULL AND t.task_id <="
     " (SELECT numbers_through FROM index_progress) AND n.task_id IS NOT t.task_id UNION ALL"
     " SELECT printf('the index has number %d of counter %d for task %d, which is not so', "
     "n.number,"
     " n.counter_id, n.task_id) FROM task_numbers n LEFT JOIN tasks t ON t.task_id = n.task_id"
     " WHERE (t.counter_id, t.over, t.number) IS NOT (n.counter_id, n.over, n.number) UNION ALL"
     " SELECT printf('number %d of counter %d is given to tasks %d and %d', n.number, n.counter_id,"
     " n.task_id, t.task_id) FROM tasks t JOIN task_numbers n ON n.counter_id = t.counter_id AND"
     " n.over IN (0, 1) AND n.number = t.number WHERE t.task_id > (SELECT numbers_through FROM"
     " index_progress) AND n.task_id <> t.task_id"},
    {{"I6", "the index of versions has every version, as it is"},
     "SELECT printf('account %d: seq %d is not in the index', v.account_id, v.seq) FROM versions v"
     " LEFT JOIN version_places p ON p.account_id = v.account_id AND p.seq = v.seq WHERE"
     " v.version_row <= (SELECT places_through FROM index_progress) AND p.version_row IS NOT "
     "v.version_row"
     " UNION ALL SELECT printf('the index has seq %d of account %d in row %d, which is not so',"
     " p.seq, p.account_id, p.version_row) FROM version_places p LEFT JOIN versions v ON"
     " v.version_row = p.version_row WHERE (v.account_id, v.seq) IS NOT (p.account_id, p.seq)"
     " UNION ALL SELECT printf('account %d: seq %d is in rows %d and %d', p.account_id, p.seq,"
     " p.version_row, v.version_row) FROM versions v JOIN version_places p ON p.account_id ="
     " v.account_id AND p.seq = v.seq WHERE v.version_row > (SELECT places_through FROM "
     "index_progress)"
     " AND p.version_row <> v.version_row"},
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
