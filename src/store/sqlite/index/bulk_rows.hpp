#pragma once
// Rows by a bulk index (bulk_index.hpp): those of its table and the buffered ones, in one order.

#include "index/bulk_index.hpp"
#include "tables/tables.hpp"

namespace callsign::sqlite {

// As fetch_row() and scan_rows(). Requires: `index` is a bulk index; a range names an owner.
row_ptr fetch_in_bulk(connection& db, const index_view& waiting, const index_info& index,
                      const row_key& key, bool head);
row_page scan_in_bulk(connection& db, const index_view& waiting, const row_range& range);
// Called after write_rows().
void write_in_bulk(bulk_index& into, const table_changes& changes);

}  // namespace callsign::sqlite
