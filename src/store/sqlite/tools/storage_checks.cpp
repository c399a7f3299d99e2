#include "tools/storage_checks.hpp"

#include "statements.hpp"

#include <utility>

namespace callsign::sqlite {
namespace {

// An agreement between SQLite's data and what the rules see: a query that returns a text for each
// violation.
struct agreement {
    proof of;
    const char* offenders;
};

constexpr agreement agreements[] = {
    {{"I4", "pending_slots has every pending slot, and no other"},
     "SELECT printf('slot %d is pending but missing from pending_slots', s.slot_id) FROM slots s "
     "LEFT JOIN"
     " pending_slots p ON p.slot_id = s.slot_id WHERE s.state IN (1, 4) AND s.slot_id <= (SELECT"
     " pending_through FROM index_progress) AND (p.account_id, p.task_uuid) IS NOT (s.account_id, "
     "s.uuid)"
     " UNION ALL SELECT printf('slot %d is in pending_slots but not pending', p.slot_id) FROM "
     "pending_slots "
     "p"
     " LEFT JOIN slots s ON s.slot_id = p.slot_id WHERE s.state IS NULL OR s.state IN (2, 3) OR "
     "p.slot_id > (SELECT"
     " pending_through FROM index_progress)"},
    // Buffered entries are derived from the rows, and have no check.
    {{"I1", "task_numbers has an entry for every task, and no other"},
     "SELECT printf('task %d: number %d of counter %d is not in task_numbers', t.task_id, t.number,"
     " t.counter_id) FROM tasks t LEFT JOIN task_numbers n ON n.counter_id = t.counter_id AND"
     " n.over = t.over AND n.number = t.number WHERE t.number IS NOT NULL AND t.task_id <="
     " (SELECT numbers_through FROM index_progress) AND n.task_id IS NOT t.task_id UNION ALL"
     " SELECT printf('task_numbers has number %d of counter %d for task %d, which has another', "
     "n.number,"
     " n.counter_id, n.task_id) FROM task_numbers n LEFT JOIN tasks t ON t.task_id = n.task_id"
     " WHERE (t.counter_id, t.over, t.number) IS NOT (n.counter_id, n.over, n.number) UNION ALL"
     " SELECT printf('number %d of counter %d is assigned to tasks %d and %d', n.number, "
     "n.counter_id,"
     " n.task_id, t.task_id) FROM tasks t JOIN task_numbers n ON n.counter_id = t.counter_id AND"
     " n.over IN (0, 1) AND n.number = t.number WHERE t.task_id > (SELECT numbers_through FROM"
     " index_progress) AND n.task_id <> t.task_id"},
    {{"I6", "version_places has an entry for every version, and no other"},
     "SELECT printf('account %d: seq %d is not in version_places', v.account_id, v.seq) FROM "
     "versions v"
     " LEFT JOIN version_places p ON p.account_id = v.account_id AND p.seq = v.seq WHERE"
     " v.version_row <= (SELECT places_through FROM index_progress) AND p.version_row IS NOT "
     "v.version_row"
     " UNION ALL SELECT printf('version_places has seq %d of account %d in row %d, which has "
     "another',"
     " p.seq, p.account_id, p.version_row) FROM version_places p LEFT JOIN versions v ON"
     " v.version_row = p.version_row WHERE (v.account_id, v.seq) IS NOT (p.account_id, p.seq)"
     " UNION ALL SELECT printf('account %d: seq %d is in rows %d and %d', p.account_id, p.seq,"
     " p.version_row, v.version_row) FROM versions v JOIN version_places p ON p.account_id ="
     " v.account_id AND p.seq = v.seq WHERE v.version_row > (SELECT places_through FROM "
     "index_progress)"
     " AND p.version_row <> v.version_row"},
    {{"file", "every row's parent exists"},
     "SELECT printf('%s, row %s: its parent in %s does not exist', \"table\", coalesce(rowid, '?'),"
     " parent) FROM pragma_foreign_key_check"},
    {{"file", "the file passes SQLite's integrity check"},
     "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'"},
};

}  // namespace

void check_storage(connection& db, findings& found) {
    for (const agreement& a : agreements) {
        check_part(found, a.of, [&] {
            auto q = db.use(a.offenders);
            while (q.step()) found.fault(a.of, q.text(0));
        });
    }
    check_keys(db, found);
}

}  // namespace callsign::sqlite
