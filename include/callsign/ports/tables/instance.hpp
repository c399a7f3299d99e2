#pragma once
// The identity of the store: one row, which every store has from its creation.

#include <callsign/ports/table.hpp>

namespace callsign {

struct instance_row {
    std::int64_t id = 1;
    callsign::uuid uuid{};
};

struct instance_by_id : index_on<instance_row, "instance_id"> {
    static auto key(const row& r) { return std::tuple(r.id); }
};

template <>
struct table<instance_row> {
    static constexpr std::string_view name = "instance";
    using indexes = index_list<instance_by_id>;
    static constexpr std::size_t cached_max = 2;
    using cached_by = index_list<instance_by_id>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("instance_id", r.id);
        v("uuid", r.uuid);
    }
};
extern template const table_info& info_of_table<instance_row>();

}  // namespace callsign
