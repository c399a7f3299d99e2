#pragma once
// Lists in pages, ordered by row ID.

#include <cstdint>
#include <vector>

namespace callsign {

struct page_request {
    std::int64_t size = 100;
    std::int64_t after = 0;  // the id of the last row seen
};

template <class Row>
struct page_of {
    std::vector<Row> rows;
    bool has_more = false;  // more rows follow the last one
};

// Returns the requested page. Requires: `rows` are all rows after `asked.after`, or at least one
// more than the page takes.
template <class Row>
page_of<Row> page_from(std::vector<Row> rows, const page_request& asked) {
    std::erase_if(rows, [&](const Row& row) { return row.id.value <= asked.after; });
    const bool has_more = static_cast<std::int64_t>(rows.size()) > asked.size;
    if (has_more) rows.resize(static_cast<std::size_t>(asked.size));
    return {std::move(rows), has_more};
}

}  // namespace callsign
