#include <callsign/ports/store_failure.hpp>
#include <callsign/ports/unit_of_work.hpp>

#include <algorithm>

namespace callsign {

row_key end_of(row_key prefix) {
    while (!prefix.empty() && prefix.back() == '\xFF') prefix.pop_back();
    if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
    return prefix;
}

bool unit_of_work::is_empty() const {
    return std::ranges::all_of(tables_, [](const auto& t) { return !t || t->is_empty(); });
}

std::size_t unit_of_work::work_done() const {
    std::size_t work = 0;
    for (const auto& changed : tables_) work += changed ? changed->work() : 0;
    return work;
}

std::vector<table_changes> unit_of_work::changes() const {
    std::vector<table_changes> all;
    for (const auto& changed : tables_) {
        if (changed && !changed->is_empty()) all.push_back(changed->all());
    }
    return all;
}

namespace {

[[noreturn]] void throw_misplaced(const table_info& t, const void* row) {
    const index_info& primary = t.indexes.front();
    const bool has_id = primary.kinds.front() == part_kind::integer;
    const std::int64_t id = has_id ? key_reader(*primary.key_of(row)).integer() : 0;
    throw_damaged(std::string(t.name), id, "an index has it, and cannot");
}

}  // namespace

void scan_rows(row_reader& base, unit_of_work* work, const row_range& range,
               const std::function<bool(const row_ptr&)>& visit) {
    changed_rows* const changed = work ? work->of(*range.index->table) : nullptr;
    row_range rest = range;  // after the last row shown
    const auto next_own = [&] { return changed ? changed->first_in(rest) : std::nullopt; };
    const auto go_behind = [&](row_range& r, const row_key& key) {
        r.after = key.substr(range.prefix.size());
        r.after_parts = range.index->columns.size() - range.prefix_parts;
    };
    // Nothing is behind a key that is the prefix itself.
    const bool is_one_key = range.prefix_parts == range.index->columns.size();
    // Returns false when the visitor or the limit ends the scan.
    const auto show = [&](const row_ptr& row) {
        return visit(row) && --rest.limit > 0 && !is_one_key;
    };
    const auto show_own = [&](const std::pair<row_key, row_ptr>& own) {
        go_behind(rest, own.first);
        return show(own.second);
    };
    const auto is_before = [&](const row_key& a, const row_key& b) {
        return range.descending ? a > b : a < b;
    };
    if (rest.limit <= 0) return;

    row_range page = range;
    std::int64_t page_rows = std::clamp<std::int64_t>(range.expected, 1, page_rows_max);
    for (bool is_last = false; !is_last;) {
        page.limit = std::min(rest.limit, page_rows);
        page_rows = std::min<std::int64_t>(2 * page_rows, page_rows_max);
        const row_page some = base.scan(page);
        is_last = some.is_last || is_one_key;
        for (const row_ptr& row : some.rows) {
            if (!range.index->has(row.get())) throw_misplaced(*range.index->table, row.get());
            if (changed) {
                const row_key key = *range.index->key_of(row.get());
                for (auto own = next_own(); own && is_before(own->first, key); own = next_own()) {
                    if (!show_own(*own)) return;
                }
                if (changed->has(row.get())) continue;
                go_behind(rest, key);
            }
            if (!show(row)) return;
        }
        if (!is_last) go_behind(page, *range.index->key_of(some.rows.back().get()));
    }
    while (const auto own = next_own()) {
        if (!show_own(*own)) return;
    }
}

}  // namespace callsign
