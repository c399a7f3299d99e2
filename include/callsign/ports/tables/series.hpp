#pragma once
// Series, their present and former prefixes, and the numbers that they have assigned.

#include <callsign/domain/account.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct series_by_id : index_on<series, "series_id"> {
    static auto key(const row& r) { return std::tuple(r.id); }
};
struct series_by_account : index_on<series, "account_id", "series_id"> {
    static auto key(const row& r) { return std::tuple(r.account, r.id); }
};
struct series_by_project : index_on<series, "account_id", "project"> {
    static constexpr std::string_view where = "project <> ''";
    static bool has(const row& r) { return !r.project.empty(); }
    static auto key(const row& r) { return std::tuple(r.account, std::string_view(r.project)); }
};
struct series_default : index_on<series, "account_id"> {
    static constexpr std::string_view where = "is_default";
    static bool has(const row& r) { return r.is_default; }
    static auto key(const row& r) { return std::tuple(r.account); }
};
struct series_numbering : index_on<series, "series_id"> {
    static constexpr std::string_view where = "numbering = 1";
    static bool has(const row& r) { return r.numbering; }
    static auto key(const row& r) { return std::tuple(r.id); }
};
struct series_renamed : index_on<series, "series_id"> {
    static constexpr std::string_view where = "renamed_seq IS NOT NULL";
    static bool has(const row& r) { return r.renamed_seq.has_value(); }
    static auto key(const row& r) { return std::tuple(r.id); }
};

template <>
struct table<series> {
    static constexpr std::string_view name = "series";
    using indexes = index_list<series_by_id, series_by_account, series_by_project, series_default,
                               series_numbering, series_renamed>;
    static constexpr std::size_t cached_max = 65'536;
    using cached_by = index_list<series_by_id, series_by_project, series_default>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("series_id", r.id);
        v.fixed("account_id", r.account);
        v("prefix", r.prefix);
        v("project", r.project);
        v.fixed("is_default", r.is_default);
        v.fixed("created_at", r.created_at);
        v("last_period", r.period);
        v("reset", one_of(r.reset, reset_policy::never, reset_policy::yearly));
        v("time_zone", r.time_zone);
        v("archived", r.archived);
        v("allows_gaps", r.allows_gaps);
        v("held", r.held);
        v("numbering", r.numbering);
        v("renamed_seq", r.renamed_seq);
        v("renamed_period", r.renamed_period);
        v("renamed_number", r.renamed_number);
    }
};
extern template const table_info& info_of_table<series>();

struct prefix_row {
    account_id account;
    std::string prefix;
    series_id series;
};

struct prefixes_by_name : index_on<prefix_row, "account_id", "prefix"> {
    static auto key(const row& r) { return std::tuple(r.account, std::string_view(r.prefix)); }
};

template <>
struct table<prefix_row> {
    static constexpr std::string_view name = "prefixes";
    using indexes = index_list<prefixes_by_name>;
    static constexpr std::size_t cached_max = 65'536;
    using cached_by = index_list<prefixes_by_name>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("account_id", r.account);
        v.fixed("prefix", r.prefix);
        v.fixed("series_id", r.series);
    }
};
extern template const table_info& info_of_table<prefix_row>();

// The last number assigned in a period of a series.
struct counter_row {
    counter_id id;
    series_id series;
    std::string period;
    std::int64_t last_number = 0;
};

struct counters_by_id : index_on<counter_row, "counter_id"> {
    static auto key(const row& r) { return std::tuple(r.id); }
};
struct counters_by_period : index_on<counter_row, "series_id", "period"> {
    static auto key(const row& r) { return std::tuple(r.series, std::string_view(r.period)); }
};

template <>
struct table<counter_row> {
    static constexpr std::string_view name = "counters";
    using indexes = index_list<counters_by_id, counters_by_period>;
    static constexpr std::size_t cached_max = 65'536;
    using cached_by = index_list<counters_by_id, counters_by_period>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("counter_id", r.id);
        v.fixed("series_id", r.series);
        v.fixed("period", r.period);
        v("last_number", r.last_number);
    }
};
extern template const table_info& info_of_table<counter_row>();

// Skipped numbers of a counter: first to last.
struct skipped_row {
    counter_id counter;
    std::int64_t first = 0;
    std::int64_t last = 0;
};

struct skipped_by_number : index_on<skipped_row, "counter_id", "first_number"> {
    static auto key(const row& r) { return std::tuple(r.counter, r.first); }
};

template <>
struct table<skipped_row> {
    static constexpr std::string_view name = "skipped_numbers";
    using indexes = index_list<skipped_by_number>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("counter_id", r.counter);
        v.fixed("first_number", r.first);
        v.fixed("last_number", r.last);
    }
};
extern template const table_info& info_of_table<skipped_row>();

}  // namespace callsign
