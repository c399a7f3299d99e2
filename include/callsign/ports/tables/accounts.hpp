#pragma once
// Accounts.

#include <callsign/domain/account.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct accounts_by_id : index_on<account, "account_id"> {
    static auto key(const row& r) { return std::tuple(r.id); }
};
struct accounts_by_name : index_on<account, "name"> {
    static auto key(const row& r) { return std::tuple(std::string_view(r.name)); }
};
struct accounts_deleted : index_on<account, "deleted_at", "account_id"> {
    static constexpr std::string_view where = "deleted_at IS NOT NULL";
    static bool has(const row& r) { return r.deleted_at.has_value(); }
    static auto key(const row& r) { return std::tuple(*r.deleted_at, r.id); }
};

template <>
struct table<account> {
    static constexpr std::string_view name = "accounts";
    using indexes = index_list<accounts_by_id, accounts_by_name, accounts_deleted>;
    static constexpr std::size_t cached_max = 65'536;
    using cached_by = index_list<accounts_by_id>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("account_id", r.id);
        v("name", r.name);
        v.fixed("created_at", r.created_at);
        v("mode", one_of(r.mode, account_mode::managed, account_mode::opaque));
        v("state", one_of(r.state, account_state::active, account_state::removing));
        v("deleted_at", r.deleted_at);
        v("elsewhere", r.is_remote);
        v("last_seq", r.head.seq);
        v("last_version", r.head.version);
        v("sealed_seq", r.head.sealed_seq);
        v("history_from", r.history_from);
        v("stored_bytes", r.stored_bytes);
        v("fork_versions", r.forks.versions);
        v("fork_bytes", r.forks.bytes);
    }
};
extern template const table_info& info_of_table<account>();

}  // namespace callsign
