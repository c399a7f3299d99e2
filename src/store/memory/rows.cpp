#include "rows.hpp"

#include <callsign/base/assert.hpp>

namespace callsign::memory {

const rows::by_key* rows::find(const index_info& index) const {
    const std::size_t table = index.table->number;
    if (table >= tables_.size() || !tables_[table]) return nullptr;
    return &(*tables_[table])[index.number];
}

row_ptr rows::fetch(const index_info& index, const row_key& key) const {
    const by_key* const all = find(index);
    const auto at = all ? all->find(key) : by_key::const_iterator{};
    return all && at != all->end() ? at->second : nullptr;
}

row_page rows::scan(const row_range& range) const {
    row_page page;
    const by_key* const all = find(*range.index);
    if (!all) return page;
    auto at = place_in(*all, range);
    while (at != all->end() && is_in(range, at->first)) {
        page.is_last = page.rows.size() < page_rows_max && std::ssize(page.rows) < range.limit;
        if (!page.is_last) break;
        page.rows.push_back(at->second);
        if (range.descending && at == all->begin()) break;
        at = range.descending ? std::prev(at) : std::next(at);
    }
    return page;
}

void rows::apply(const table_changes& changes) {
    const table_info& t = *changes.table;
    if (tables_.size() <= t.number) tables_.resize(t.number + 1);
    const auto& old = tables_[t.number];
    auto now =
        old ? std::make_shared<table_rows>(*old) : std::make_shared<table_rows>(t.indexes.size());
    for (const index_info& i : t.indexes) {
        by_key& by = (*now)[i.number];
        for (const auto& [before, row, is_anew] : changes.rows) {
            const auto key = before ? i.key_of(before.get()) : std::nullopt;
            if (key) CALLSIGN_ASSERT(by.erase(*key) == 1);
        }
        for (const auto& [before, row, is_anew] : changes.rows) {
            auto key = row ? i.key_of(row.get()) : std::nullopt;
            if (key) CALLSIGN_ASSERT(by.emplace(std::move(*key), row).second);
        }
    }
    tables_[t.number] = std::move(now);
}

}  // namespace callsign::memory
