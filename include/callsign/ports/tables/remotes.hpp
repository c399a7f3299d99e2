#pragma once
// Remote accounts.

#include <callsign/domain/remote_chain.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct remotes_by_account : index_on<remote_chain, "account_id"> {
    static auto key(const row& r) { return std::tuple(r.account); }
};

template <>
struct table<remote_chain> {
    static constexpr std::string_view name = "remotes";
    using indexes = index_list<remotes_by_account>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("account_id", r.account);
        v("url", r.url);
        v("client_id", r.client_id);
        v("key", as_bytes(r.sealed_key));
        v("cursor", r.cursor);
        v("before", r.before);
        v("partial", r.partial);
        v("partial_operations", r.partial_operations);
        v("halted", one_of(r.halted, remote_halt::none, remote_halt::history_incomplete));
        v("moved_tasks", part_of(&r.moving, &moving_tasks::tasks));
        auto* const moved_to = r.moving ? &r.moving->after : nullptr;
        v("moved_series", part_of(moved_to, &task_place::series));
        v("moved_period", part_of(moved_to, &task_place::period));
        v("moved_number", part_of(moved_to, &task_place::number));
    }
};
extern template const table_info& info_of_table<remote_chain>();

}  // namespace callsign
