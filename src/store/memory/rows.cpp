#include "rows.hpp"

#include <callsign/base/assert.hpp>

namespace callsign::memory {
namespace {

// Collects a row's columns for comparison.
class columns_of_row final : public column_sink {
  public:
    void put_null() override { all.emplace_back(); }
    void put_integer(std::int64_t value) override { all.push_back(std::to_string(value)); }
    void put_text(const std::string& text) override { all.push_back(text); }
    void put_bytes(std::string_view bytes) override { all.emplace_back(bytes); }
    void put_made(std::string bytes) override { all.push_back(std::move(bytes)); }
    void put_made_text(std::string text) override { all.push_back(std::move(text)); }
    // Compares these values by size only.
    void put_attributes(const attributes& set, std::span<const std::string> absent) override {
        put_column(*this, size_of(set));
        put_column(*this, absent.size());
    }
    void put_operations(std::span<const operation> some) override {
        put_column(*this, some.size());
    }
    void put_retry_record(const retry_record& /*record*/) override { put_null(); }
    void put_way(std::int64_t /*left_at*/, const fork_way& way) override {
        put_column(*this, way.own.size());
        put_column(*this, way.dropped.size());
    }

    std::vector<std::string> all;
};

// Returns whether only columns that may change differ. Requires: both are whole rows.
bool has_changed_as_it_may(const table_info& t, const row_ptr& from, const row_ptr& to) {
    columns_of_row before, now;
    t.put_columns(from.get(), before);
    t.put_columns(to.get(), now);
    for (std::size_t n = 0; n < t.columns.size(); ++n) {
        if (!t.columns[n].may_change && before.all[n] != now.all[n]) return false;
    }
    return true;
}

}  // namespace

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
    while (at != all->end() && at->first.starts_with(range.prefix)) {
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
    const index_info& primary = t.indexes.front();
    for (const row_change& c : changes.rows) {
        if (!c.before || !c.now || c.is_reinserted) continue;
        const row_ptr stored = fetch(primary, *primary.key_of(c.before.get()));
        CALLSIGN_ASSERT(stored && has_changed_as_it_may(t, stored, c.now));
    }
    auto now =
        old ? std::make_shared<table_rows>(*old) : std::make_shared<table_rows>(t.indexes.size());
    for (const index_info& i : t.indexes) {
        by_key& by = (*now)[i.number];
        for (const auto& [before, row, is_reinserted] : changes.rows) {
            const auto key = before ? i.key_of(before.get()) : std::nullopt;
            if (key) CALLSIGN_ASSERT(by.erase(*key) == 1);
        }
        for (const auto& [before, row, is_reinserted] : changes.rows) {
            auto key = row ? i.key_of(row.get()) : std::nullopt;
            if (key) CALLSIGN_ASSERT(by.emplace(std::move(*key), row).second);
        }
    }
    tables_[t.number] = std::move(now);
}

}  // namespace callsign::memory
