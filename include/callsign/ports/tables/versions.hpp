#pragma once
// The chains of managed accounts.

#include <callsign/domain/version.hpp>
#include <callsign/domain/work.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct version_head {
    using whole = struct version_row;

    std::int64_t row = 0;  // increases over all accounts
    account_id account;
    std::int64_t seq = 0;
    uuid id{};
    uuid parent{};
    time_point created_at{};
    callsign::author author{};
    std::size_t bytes = 0;  // of the operations, as size_of() counts them
};
struct version_row : version_head {
    std::vector<operation> operations{};
};

struct versions_by_row : index_on<version_row, "version_row"> {
    static auto key(const version_head& r) { return std::tuple(r.row); }
};
struct versions_by_id : index_on<version_row, "version_id", "account_id"> {
    static auto key(const version_head& r) { return std::tuple(r.id, r.account); }
};
struct versions_by_seq : index_on<version_row, "account_id", "seq"> {
    static constexpr auto form = index_form::bulk;
    static auto key(const version_head& r) { return std::tuple(r.account, r.seq); }
};

template <>
struct table<version_row> {
    static constexpr std::string_view name = "versions";
    using head = version_head;
    using indexes = index_list<versions_by_row, versions_by_id, versions_by_seq>;

    static std::size_t work(const version_row& r) { return work_of(r.operations); }

    template <class Head, class Visitor>
    static void head_columns(Head& r, Visitor& v) {
        v.fixed("version_row", r.row);
        v.fixed("account_id", r.account);
        v.fixed("seq", r.seq);
        v.fixed("version_id", r.id);
        v.fixed("parent_id", r.parent);
        v.fixed("created_at", r.created_at);
        v.fixed("author", r.author);
        v("bytes", r.bytes);
    }
    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        head_columns(r, v);
        v("operations", r.operations);
    }
};
extern template const table_info& info_of_table<version_row>();

}  // namespace callsign
