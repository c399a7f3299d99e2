#pragma once
// What is asked of a store's rows: one by a key, or those of a range, in order.

#include <callsign/ports/table.hpp>

#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace callsign {

// Rows that a caller expects who does not say how many.
inline constexpr std::int64_t rows_expected = 32;

// Rows of an index whose keys begin alike, behind a place or from the beginning.
struct row_range {
    const index_info* index = nullptr;
    // Keys that begin with these parts.
    row_key prefix{};
    std::size_t prefix_parts = 0;
    // Behind this one, which is of the parts that follow, or some of them; in the other direction,
    // before it.
    row_key after{};
    std::size_t after_parts = 0;
    bool descending = false;
    bool heads = false;  // without what is large
    // No more are wanted.
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();
    // Number of rows that are probably enough: the size of the first page. Later pages are larger.
    std::int64_t expected = rows_expected;
};

// The least key that is larger than any that begins so; empty: there is none.
row_key end_of(row_key prefix);

// Of an ordered map by keys: where the first of a range is, if there is one. It is not if its key
// does not begin with the prefix.
template <class Rows>
typename Rows::const_iterator place_in(const Rows& rows, const row_range& range) {
    const row_key from = range.prefix + range.after;
    const bool is_behind = range.descending != (range.after_parts > 0);
    const row_key place = is_behind ? end_of(from) : from;
    const auto at = is_behind && place.empty() ? rows.end() : rows.lower_bound(place);
    if (!range.descending) return at;
    return at == rows.begin() ? rows.end() : std::prev(at);
}

// The first rows of a range: a bounded number, and of large ones fewer, but one if there is one.
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
    bool head = false;  // without what is large
};

// One committed state. A store's; throws store_failure.
class row_reader {
  public:
    virtual ~row_reader() = default;

    // Null: there is none. `head`: without what is large.
    virtual row_ptr fetch(const index_info& index, const row_key& key, bool head) = 0;
    virtual row_page scan(const row_range& range) = 0;
};

// A row_range of rows whose keys begin with so many parts.
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
    // Of the parts that follow; in the other direction, before it.
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

// Of all rows, or of those whose keys begin with these parts.
template <class Index, class... Part>
range<Index, sizeof...(Part)> range_of(const Part&... parts) {
    return range<Index, sizeof...(Part)>(key_from<Index, 0>(parts...));
}

}  // namespace callsign
