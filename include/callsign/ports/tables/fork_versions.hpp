#pragma once
// Fork versions: states of devices that are not on the chain.

#include <callsign/domain/version.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct fork_head {
    using whole = struct fork_row;

    std::int64_t row = 0;
    account_id account;
    fork_mark fork;
    std::int64_t seq = 0;           // the last of `own`
    std::int64_t place = 0;         // 1, 2, 3 ... within the account
    std::int64_t bytes_before = 0;  // of all the account's fork versions before it
};
struct fork_row : fork_head {
    fork_way way;
};

struct forks_by_row : index_on<fork_row, "fork_row"> {
    static auto key(const fork_head& r) { return std::tuple(r.row); }
};
struct forks_by_place : index_on<fork_row, "account_id", "place"> {
    static auto key(const fork_head& r) { return std::tuple(r.account, r.place); }
};
struct forks_by_id : index_on<fork_row, "version_id", "account_id"> {
    static auto key(const fork_head& r) { return std::tuple(r.fork.id, r.account); }
};

template <>
struct table<fork_row> {
    static constexpr std::string_view name = "fork_versions";
    using head = fork_head;
    using indexes = index_list<forks_by_row, forks_by_place, forks_by_id>;

    template <class Head, class Visitor>
    static void head_columns(Head& r, Visitor& v) {
        v.fixed("fork_row", r.row);
        v.fixed("account_id", r.account);
        v.fixed("version_id", r.fork.id);
        v.fixed("left_at", r.fork.left_at);
        v.fixed("seq", r.seq);
        v.fixed("created_at", r.fork.created_at);
        v.fixed("place", r.place);
        v.fixed("bytes_before", r.bytes_before);
    }
    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        head_columns(r, v);
        v.fixed("way", way_from(r.fork.left_at, r.way));
    }
};
extern template const table_info& info_of_table<fork_row>();

}  // namespace callsign
