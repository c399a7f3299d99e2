#pragma once
// What devices have that were answered with a version that is not on the chain.

#include <callsign/domain/version.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct fork_row {
    account_id account;
    fork_version fork;
    std::int64_t seq = 0;           // the last of `own`
    std::int64_t place = 0;         // 1, 2, 3 ... of the account's
    std::int64_t bytes_before = 0;  // of all before it
};

struct forks_by_place : index_on<fork_row, "account_id", "place"> {
    static auto key(const row& r) { return std::tuple(r.account, r.place); }
};
struct forks_by_id : index_on<fork_row, "version_id", "account_id"> {
    static auto key(const row& r) { return std::tuple(r.fork.id, r.account); }
};

template <>
struct table<fork_row> {
    static constexpr std::string_view name = "fork_versions";
    using indexes = index_list<forks_by_place, forks_by_id>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("version_id", r.fork.id);
        v.fixed("account_id", r.account);
        v.fixed("left_at", r.fork.left_at);
        v.fixed("seq", r.seq);
        v.fixed("created_at", r.fork.created_at);
        v.fixed("way", way_of(r.fork));
        v.fixed("place", r.place);
        v.fixed("bytes_before", r.bytes_before);
    }
};

}  // namespace callsign
