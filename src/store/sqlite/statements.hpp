#pragma once
// SQL statements of this store, except those that tables.cpp generates and the checks in tools.
// Values are bound parameters.

namespace callsign::sql {

inline constexpr auto begin_write = "BEGIN IMMEDIATE";
inline constexpr auto begin_read = "BEGIN";
inline constexpr auto commit = "COMMIT";
inline constexpr auto rollback = "ROLLBACK";

// ---- open slots ----

inline constexpr auto pending_through = "SELECT pending_through FROM index_progress";
inline constexpr auto set_pending_through = "UPDATE index_progress SET pending_through = ?";
inline constexpr auto pending_behind =
    "SELECT slot_id, account_id, uuid FROM slots WHERE slot_id > ? AND state IN (1, 4)"
    " ORDER BY slot_id";
inline constexpr auto pending_listed =
    "SELECT slot_id FROM pending_slots WHERE slot_id > ? ORDER BY slot_id LIMIT ?";
inline constexpr auto pending_of_task =
    "SELECT slot_id FROM pending_slots WHERE task_uuid = ? AND account_id = ? AND slot_id > ?"
    " ORDER BY slot_id LIMIT ?";
inline constexpr auto pending_put =
    "INSERT INTO pending_slots (slot_id, account_id, task_uuid) VALUES (?, ?, ?)";
inline constexpr auto pending_delete = "DELETE FROM pending_slots WHERE slot_id = ?";
inline constexpr auto progress_touch =
    "UPDATE index_progress SET pending_through = pending_through + ?";

// ---- inspecting a store without opening it ----

// Tables of the first schema that no other program has by chance.
inline constexpr auto look_own_tables =
    "SELECT count(*) FROM sqlite_master WHERE type = 'table'"
    " AND name IN ('accounts', 'prefixes', 'slots', 'key_runs', 'key_pages')";

// ---- clock repair ----

inline constexpr auto moment_last = "SELECT last_moment FROM totals";
inline constexpr auto moment_set = "UPDATE totals SET last_moment = ?";
inline constexpr auto slot_not_after =
    "UPDATE slots SET created_at = min(created_at, ?1), settled_at = min(settled_at, ?1)"
    " WHERE created_at > ?1 OR settled_at > ?1";
inline constexpr auto history_not_after =
    "UPDATE task_history SET ended_at = ?1 WHERE ended_at > ?1";
inline constexpr auto fork_not_after =
    "UPDATE fork_versions SET created_at = ?1 WHERE created_at > ?1";

// ---- bulk indexes ----

inline constexpr auto numbers_through = "SELECT numbers_through FROM index_progress";
inline constexpr auto set_numbers_through = "UPDATE index_progress SET numbers_through = ?";
inline constexpr auto numbers_behind =
    "SELECT counter_id, number, task_id, over FROM tasks WHERE task_id > ? AND number IS NOT NULL"
    " ORDER BY task_id";
// Up to 16 rows, in the order of their entries; NULL: no row. One statement per row would be most
// of a merge's cost.
#define CALLSIGN_SOME_ROWS                                                                    \
    "(VALUES (?), (?), (?), (?), (?), (?), (?), (?), (?), (?), (?), (?), (?), (?), (?), (?))" \
    " AS some CROSS JOIN "
inline constexpr int put_at_once = 16;
inline constexpr auto number_put =
    "INSERT INTO task_numbers (counter_id, over, number, task_id)"
    " SELECT t.counter_id, t.over, t.number, t.task_id FROM " CALLSIGN_SOME_ROWS
    "tasks t ON t.task_id = some.column1 WHERE t.number IS NOT NULL ON CONFLICT DO NOTHING";
inline constexpr auto number_row =
    "SELECT task_id FROM task_numbers WHERE counter_id = ? AND over IN (0, 1) AND number = ?";
inline constexpr auto number_turn =
    "UPDATE task_numbers SET over = ? WHERE counter_id = ? AND over = ? AND number = ?";
inline constexpr auto number_delete =
    "DELETE FROM task_numbers WHERE counter_id = ? AND over IN (0, 1) AND number = ?";
inline constexpr auto places_through = "SELECT places_through FROM index_progress";
inline constexpr auto set_places_through = "UPDATE index_progress SET places_through = ?";
inline constexpr auto places_behind =
    "SELECT account_id, seq, version_row, 0 FROM versions WHERE version_row > ?"
    " ORDER BY version_row";
// A buffered entry is not in the table; without its row it has no effect.
inline constexpr auto place_delete = "DELETE FROM version_places WHERE account_id = ? AND seq = ?";
inline constexpr auto place_put =
    "INSERT INTO version_places (account_id, seq, version_row)"
    " SELECT v.account_id, v.seq, v.version_row FROM " CALLSIGN_SOME_ROWS
    "versions v ON v.version_row = some.column1 WHERE true ON CONFLICT DO NOTHING";
#undef CALLSIGN_SOME_ROWS
inline constexpr auto place_row =
    "SELECT version_row FROM version_places WHERE account_id = ? AND seq = ?";

// ---- the reference server's file ----

inline constexpr auto reference_tables =
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('clients', 'versions')";
inline constexpr auto reference_clients =
    "SELECT client_id, latest_version_id, snapshot_version_id, versions_since_snapshot,"
    " snapshot_timestamp, snapshot IS NOT NULL OR NULL FROM clients ORDER BY client_id";
inline constexpr auto reference_versions =
    "SELECT version_id, parent_version_id FROM versions WHERE client_id = ?";
inline constexpr auto reference_segment =
    "SELECT history_segment FROM versions WHERE client_id = ? AND version_id = ?";
inline constexpr auto reference_snapshot = "SELECT snapshot FROM clients WHERE client_id = ?";

// ---- key index ----

inline constexpr auto run_all =
    "SELECT run_id, level, state, entries, through FROM key_runs ORDER BY run_id";
inline constexpr auto run_in_use = "SELECT run_id, entries, through FROM key_runs WHERE state = ?";
inline constexpr auto run_put =
    "INSERT INTO key_runs (run_id, level, state, entries, through) VALUES (?, ?, ?, ?, ?)";
inline constexpr auto run_set = "UPDATE key_runs SET state = ?, entries = ? WHERE run_id = ?";
inline constexpr auto run_delete = "DELETE FROM key_runs WHERE run_id = ?";
inline constexpr auto page_get = "SELECT entries FROM key_pages WHERE page_id = ?";
inline constexpr auto page_all =
    "SELECT page_id, entries FROM key_pages WHERE page_id >= ? AND page_id < ? ORDER BY page_id";
inline constexpr auto page_put = "INSERT INTO key_pages (page_id, entries) VALUES (?, ?)";
inline constexpr auto page_delete =
    "DELETE FROM key_pages WHERE page_id IN (SELECT page_id FROM key_pages"
    " WHERE page_id >= ? AND page_id < ? ORDER BY page_id LIMIT ?)";
inline constexpr auto key_after = "SELECT slot_id, account_id, key FROM slots WHERE slot_id > ?";
inline constexpr auto slot_by_key_behind =
    "SELECT slot_id FROM slots WHERE slot_id > ? AND account_id = ? AND key = ?";
inline constexpr auto slot_oldest = "SELECT coalesce(min(slot_id), 0) FROM slots";

}  // namespace callsign::sql
