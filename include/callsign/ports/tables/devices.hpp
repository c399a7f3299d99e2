#pragma once
// Devices: clients that sync.

#include <callsign/domain/device.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct devices_by_id : index_on<device, "device_id"> {
    static auto key(const row& r) { return std::tuple(r.id); }
};
struct devices_by_client : index_on<device, "client_id"> {
    static auto key(const row& r) { return std::tuple(r.client_id); }
};
struct devices_by_account : index_on<device, "account_id", "device_id"> {
    static auto key(const row& r) { return std::tuple(r.account, r.id); }
};

// Members of the account are not stored here.
template <>
struct table<device> {
    static constexpr std::string_view name = "devices";
    using indexes = index_list<devices_by_id, devices_by_client, devices_by_account>;
    static constexpr std::size_t cached_max = 4'096;  // rows have names and keys
    using cached_by = index_list<devices_by_id, devices_by_client>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("device_id", r.id);
        v.fixed("account_id", r.account);
        v.fixed("client_id", r.client_id);
        v("name", r.name);
        v("key", bytes_if_any(r.sealed_key));
        v.fixed("created_at", r.created_at);
        v("revoked_at", r.revoked_at);
        v("resync_from", part_of(&r.resync, &resync::from));
        v("resync_state", part_of(&r.resync, [](auto& of) {
              return one_of(of.now, resync::state::expected, resync::state::returned);
          }));
    }
};
extern template const table_info& info_of_table<device>();

}  // namespace callsign
