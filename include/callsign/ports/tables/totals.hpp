#pragma once
// Totals of all tables: one row, which each commit that changes a total also writes.

#include <callsign/domain/slot.hpp>
#include <callsign/ports/table.hpp>

#include <array>

namespace callsign {

// Tables whose row IDs are generated: they increase, and none is reused, even if rows were removed.
enum class drawn_id : std::uint8_t {
    account,
    series,
    counter,
    token,
    device,
    webhook,
    delivery,
    action,
    effect,
    sealed,
    history,
    fork,
    task,
    version,
    slot,
};
inline constexpr std::size_t drawn_ids = static_cast<std::size_t>(drawn_id::slot) + 1;
// More IDs than are generated between a backup and the loss of its store.
inline constexpr std::int64_t ids_of_lost = 1'000'000;

struct slot_counts {
    std::int64_t pending = 0;
    std::int64_t in_flight = 0;
    std::int64_t committed = 0;
    std::int64_t failed = 0;

    std::int64_t& of(slot_state state) noexcept {
        switch (state) {
        case slot_state::pending: return pending;
        case slot_state::in_flight: return in_flight;
        case slot_state::committed: return committed;
        case slot_state::failed: break;
        }
        return failed;
    }
    friend bool operator==(const slot_counts&, const slot_counts&) = default;
};

struct store_totals {
    static constexpr std::int64_t only = 1;

    std::int64_t id = only;
    slot_counts slots{};
    std::int64_t accounts = 0;
    std::int64_t tasks = 0;       // including deleted and purged ones and those without a number
    std::int64_t open_tasks = 0;  // with a number, and not completed, deleted or purged
    std::int64_t held_series = 0;
    time_point last_moment{};  // the latest instant of any row; no later row gets an earlier one
    std::array<std::int64_t, drawn_ids> last_ids{};

    std::int64_t& last(drawn_id what) noexcept { return last_ids[static_cast<std::size_t>(what)]; }
    std::int64_t last(drawn_id what) const noexcept {
        return last_ids[static_cast<std::size_t>(what)];
    }
    friend bool operator==(const store_totals&, const store_totals&) = default;
};

struct totals_by_id : index_on<store_totals, "totals_id"> {
    static auto key(const row& r) { return std::tuple(r.id); }
};

template <>
struct table<store_totals> {
    static constexpr std::string_view name = "totals";
    using indexes = index_list<totals_by_id>;
    static constexpr std::size_t cached_max = 2;
    using cached_by = index_list<totals_by_id>;

    // In the order of drawn_id.
    static constexpr std::array<std::string_view, drawn_ids> last_ids{
        "last_account", "last_series",   "last_counter", "last_token",   "last_device",
        "last_webhook", "last_delivery", "last_action",  "last_effect",  "last_sealed",
        "last_history", "last_fork",     "last_task",    "last_version", "last_slot"};

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("totals_id", r.id);
        v("pending", r.slots.pending);
        v("in_flight", r.slots.in_flight);
        v("committed", r.slots.committed);
        v("failed", r.slots.failed);
        v("accounts", r.accounts);
        v("tasks", r.tasks);
        v("open_tasks", r.open_tasks);
        v("held_series", r.held_series);
        v("last_moment", r.last_moment);
        for (std::size_t n = 0; n < drawn_ids; ++n) v(last_ids[n], r.last_ids[n]);
    }
};
extern template const table_info& info_of_table<store_totals>();

}  // namespace callsign
