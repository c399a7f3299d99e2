#pragma once
// The audit log.

#include <callsign/domain/admin_action.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct action_row {
    admin_action what;
    // 1, 2, 3 ... of the actions by the account's own tokens; 0 for others.
    std::int64_t place = 0;
};

struct actions_by_id : index_on<action_row, "action_id"> {
    static auto key(const row& r) { return std::tuple(r.what.id); }
};
struct actions_by_account : index_on<action_row, "account_id", "action_id"> {
    static constexpr std::string_view where = "account_id IS NOT NULL";
    static bool has(const row& r) { return r.what.account.has_value(); }
    static auto key(const row& r) { return std::tuple(*r.what.account, r.what.id); }
};
struct actions_by_actor : index_on<action_row, "actor_account_id", "action_id"> {
    static constexpr std::string_view where = "actor_account_id IS NOT NULL";
    static bool has(const row& r) { return r.what.by.account.has_value(); }
    static auto key(const row& r) { return std::tuple(*r.what.by.account, r.what.id); }
};

template <>
struct table<action_row> {
    static constexpr std::string_view name = "admin_actions";
    using indexes = index_list<actions_by_id, actions_by_account, actions_by_actor>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("action_id", r.what.id);
        v.fixed("done_at", r.what.at);
        v.fixed("token_id", r.what.by.token);
        v.fixed("token_name", r.what.by.name);
        v.fixed("actor_account_id", r.what.by.account);
        v.fixed("actor_place", r.place);
        v.fixed("address", r.what.by.address);
        v.fixed("action", r.what.what);
        v.fixed("account_id", r.what.account);
        v.fixed("account_name", r.what.account_name);
        v.fixed("subject", r.what.subject);
    }
};
extern template const table_info& info_of_table<action_row>();

}  // namespace callsign
