#pragma once
// Outcomes of requests with an idempotency key, other than creations of tasks.

#include <callsign/domain/request_key.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct requests_by_key : index_on<kept_request, "account_id", "key"> {
    static auto key(const row& r) { return std::tuple(r.account, std::string_view(r.key)); }
};
struct requests_by_time : index_on<kept_request, "at", "account_id", "key"> {
    static auto key(const row& r) { return std::tuple(r.at, r.account, std::string_view(r.key)); }
};

template <>
struct table<kept_request> {
    static constexpr std::string_view name = "requests";
    using indexes = index_list<requests_by_key, requests_by_time>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("account_id", r.account);
        v.fixed("key", r.key);
        v.fixed("fingerprint", r.fingerprint);
        v.fixed("at", r.at);
        v("subject", r.subject);
        v("seq", r.seq);
        v("sealed", as_bytes(r.sealed));
    }
};
extern template const table_info& info_of_table<kept_request>();

}  // namespace callsign
