#pragma once
// Rows by an index that is written in bulk (bulk_index.hpp): those that its table has, and those
// that wait, in one order.

#include "index/bulk_index.hpp"
#include "tables/tables.hpp"

namespace callsign::sqlite {

// As fetch_row() and scan_rows(). Requires: the index is in bulk, and a range gives an owner.
row_ptr fetch_in_bulk(connection& db, const index_view& waiting, const index_info& index,
                      const row_key& key, bool head);
row_page scan_in_bulk(connection& db, const index_view& waiting, const row_range& range);
// After write_rows().
void write_in_bulk(bulk_index& into, const table_changes& changes);

}  // namespace callsign::sqlite
