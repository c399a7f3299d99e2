#pragma once
// The tables that ports/tables declares, in SQLite: their statements are made of what is declared,
// once a process.

#include "connection.hpp"

#include <callsign/ports/unit_of_work.hpp>

namespace callsign::sqlite {

// Null: there is none. `head`: without what is large.
row_ptr fetch_row(connection& db, const index_info& index, const row_key& key, bool head);
row_page scan_rows(connection& db, const row_range& range);
// The primary key of a table whose rows have ids.
row_key key_of_id(std::int64_t id);
// What is replaced or erased must be there: else it is damaged.
void write_rows(connection& db, const table_changes& changes);

// ---- for tests ----
const char* fetch_text(const index_info& index, bool head = false);
const char* scan_text(const row_range& range);

}  // namespace callsign::sqlite
