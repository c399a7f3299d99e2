#pragma once
// Purged tasks whose text is still on the chain or in history.

#include <callsign/domain/version.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct purges_by_task : index_on<purge, "account_id", "task_uuid"> {
    static auto key(const row& r) { return std::tuple(r.account, r.task); }
};

template <>
struct table<purge> {
    static constexpr std::string_view name = "purges";
    using indexes = index_list<purges_by_task>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("account_id", r.account);
        v.fixed("task_uuid", r.task);
        v("through", r.through);
    }
};
extern template const table_info& info_of_table<purge>();

}  // namespace callsign
