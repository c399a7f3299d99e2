#pragma once
// SQLite statements for the tables that ports/tables declares, generated once per process.

#include "connection.hpp"

#include <callsign/ports/unit_of_work.hpp>

namespace callsign::sqlite {

// Returns null if there is no such row. `head`: without large values.
row_ptr fetch_row(connection& db, const index_info& index, const row_key& key, bool head);
row_page scan_rows(connection& db, const row_range& range);
// Returns the primary key of a row, in a table whose rows have IDs.
row_key key_of_id(std::int64_t id);
// Throws store_failure (damaged) if a row to replace or erase does not exist.
void write_rows(connection& db, const table_changes& changes);

// ---- for tests ----
const char* fetch_text(const index_info& index, bool head = false);
const char* scan_text(const row_range& range);

}  // namespace callsign::sqlite
