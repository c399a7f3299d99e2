#pragma once
// Requests for a store's rows: one by a key, or those of a range, in order.

#include <callsign/ports/table.hpp>

#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace callsign {

// The default of row_range::expected.
inline constexpr std::int64_t rows_expected = 32;

// The rows of an index whose keys begin alike, after a position or from the beginning.
struct row_range {
    const index_info* index = nullptr;
    // The first parts of the keys.
    row_key prefix{};
    std::size_t prefix_parts = 0;
    // The position: a key without the prefix, or its first parts. The range begins after it; if
    // descending, before it.
    row_key after{};
    std::size_t after_parts = 0;
    bool descending = false;
    bool heads = false;  // without large values
    // The maximum number of rows.
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();
    // Number of rows that are probably enough: the size of the first page. Later pages are larger.
    std::int64_t expected = rows_expected;
};

// Returns the smallest key larger than all that begin with `prefix`; empty: there is none.
row_key end_of(row_key prefix);

// Returns the place of a range's first row in an ordered map by keys. The range is empty if the key
// there does not begin with the prefix.
template <class Rows>
typename Rows::const_iterator place_in(const Rows& rows, const row_range& range) {
    const row_key from = range.prefix + range.after;
    const bool is_behind = range.descending != (range.after_parts > 0);
    const row_key place = is_behind ? end_of(from) : from;
    const auto at = is_behind && place.empty() ? rows.end() : rows.lower_bound(place);
    if (!range.descending) return at;
    return at == rows.begin() ? rows.end() : std::prev(at);
}

// The first rows of a range: bounded in number, and in bytes if rows are large, but at least one if
// there is one.
struct row_page {
    std::vector<row_ptr> rows{};
    bool is_last = true;
};
inline constexpr std::size_t page_rows_max = 256;
inline constexpr std::size_t page_bytes_max = std::size_t{1} << 20;

// Identifies a row by a whole key.
struct row_name {
    const index_info* index = nullptr;
    row_key key{};
    bool head = false;  // without large values
};

// Reads rows of one committed state. Implemented by stores. Throws store_failure.
class row_reader {
  public:
    virtual ~row_reader() = default;

    // Null: there is no such row. `head`: without large values.
    virtual row_ptr fetch(const index_info& index, const row_key& key, bool head) = 0;
    virtual row_page scan(const row_range& range) = 0;
};

// A row_range whose prefix has `Parts` parts.
template <class Index, std::size_t Parts, bool Heads = false>
class range {
  public:
    using row = std::conditional_t<Heads, head_of<typename Index::row>, typename Index::row>;

    explicit range(row_range rows) : range_(std::move(rows)) {}
    explicit range(row_key prefix) {
        range_.index = &info_of<Index>();
        range_.prefix = std::move(prefix);
        range_.prefix_parts = Parts;
    }
    // The parts that follow the prefix, or the first of them.
    template <class... Part>
    range& after(const Part&... parts) {
        range_.after = key_from<Index, Parts>(parts...);
        range_.after_parts = sizeof...(Part);
        return *this;
    }
    range& descending(bool is = true) {
        range_.descending = is;
        return *this;
    }
    range& limit(std::int64_t rows) {
        range_.limit = rows;
        return *this;
    }
    range& expect(std::int64_t rows) {
        range_.expected = rows;
        return *this;
    }
    range<Index, Parts, true> heads() const {
        row_range alike = range_;
        alike.heads = true;
        return range<Index, Parts, true>(std::move(alike));
    }
    const row_range& get() const { return range_; }

  private:
    row_range range_;
};

// The range of all rows, or of those whose keys begin with these parts.
template <class Index, class... Part>
range<Index, sizeof...(Part)> range_of(const Part&... parts) {
    return range<Index, sizeof...(Part)>(key_from<Index, 0>(parts...));
}

}  // namespace callsign
