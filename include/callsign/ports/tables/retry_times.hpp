#pragma once
// How long clients took to retry: a row for each class of accounts.

#include <callsign/ports/table.hpp>

namespace callsign {

struct retry_times_by_class : index_on<kept_retry_times, "accounts"> {
    static auto key(const row& r) { return std::tuple(r.accounts); }
};

template <>
struct table<kept_retry_times> {
    static constexpr std::string_view name = "retry_times";
    using indexes = index_list<retry_times_by_class>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("accounts", one_of(r.accounts, account_class::local, account_class::remote));
        v("times", r.record);
    }
};
extern template const table_info& info_of_table<kept_retry_times>();

}  // namespace callsign
