#pragma once
// API tokens of accounts, and operator tokens.

#include <callsign/domain/account.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct token_row {
    token what;
    digest hash{};
};

struct tokens_by_id : index_on<token_row, "token_id"> {
    static auto key(const row& r) { return std::tuple(r.what.id); }
};
struct tokens_by_hash : index_on<token_row, "hash"> {
    static auto key(const row& r) { return std::tuple(r.hash); }
};
struct tokens_by_account : index_on<token_row, "account_id", "token_id"> {
    static constexpr std::string_view where = "account_id IS NOT NULL";
    static bool has(const row& r) { return r.what.account.has_value(); }
    static auto key(const row& r) { return std::tuple(*r.what.account, r.what.id); }
};
struct tokens_of_operator : index_on<token_row, "token_id"> {
    static constexpr std::string_view where = "account_id IS NULL";
    static bool has(const row& r) { return !r.what.account; }
    static auto key(const row& r) { return std::tuple(r.what.id); }
};

template <>
struct table<token_row> {
    static constexpr std::string_view name = "tokens";
    using indexes = index_list<tokens_by_id, tokens_by_hash, tokens_by_account, tokens_of_operator>;
    static constexpr std::size_t cached_max = 4'096;
    using cached_by = index_list<tokens_by_id>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("token_id", r.what.id);
        v.fixed("account_id", r.what.account);
        v.fixed("name", r.what.name);
        v.fixed("scope", one_of(r.what.scope, token_scope::read, token_scope::admin));
        v.fixed("hash", r.hash);
        v.fixed("created_at", r.what.created_at);
        v.fixed("expires_at", r.what.expires_at);
        v("revoked_at", r.what.revoked_at);
    }
};
extern template const table_info& info_of_table<token_row>();

}  // namespace callsign
