#pragma once
// Slots, by key, and the open ones by the task that they wait for.

#include <callsign/domain/slot.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct slots_by_id : index_on<slot, "slot_id"> {
    static auto key(const row& r) { return std::tuple(r.id); }
};
struct slots_by_key : index_on<slot, "account_id", "key"> {
    static constexpr auto form = index_form::hash;
    static auto key(const row& r) { return std::tuple(r.account, std::string_view(r.key)); }
};
struct slots_open : index_on<slot, "slot_id"> {
    static constexpr auto form = index_form::brief;
    static bool has(const row& r) { return is_open(r.state); }
    static auto key(const row& r) { return std::tuple(r.id); }
};
// Open slots, by the task that they wait for.
struct slots_waiting : index_on<slot, "uuid", "account_id", "slot_id"> {
    static constexpr auto form = index_form::brief;
    static bool has(const row& r) { return is_open(r.state); }
    static auto key(const row& r) { return std::tuple(r.uuid, r.account, r.id); }
};
// Slots that are not kept as long as a task: the failed ones, and those of tasks that existed
// before.
struct slots_expiring : index_on<slot, "slot_id"> {
    static constexpr std::string_view where = "expires = 1";
    static bool has(const row& r) { return r.expires; }
    static auto key(const row& r) { return std::tuple(r.id); }
};

template <>
struct table<slot> {
    static constexpr std::string_view name = "slots";
    using indexes =
        index_list<slots_by_id, slots_by_key, slots_open, slots_waiting, slots_expiring>;
    // Covers slots between their reservation and their outcome.
    static constexpr std::size_t cached_max = 4'096;
    using cached_by = index_list<slots_by_id>;

    static const char* fault(const slot& r) {
        const bool in_order = (r.state == slot_state::committed) == r.task.has_value() &&
                              is_open(r.state) != r.settled_at.has_value();
        return in_order ? nullptr : "its state";
    }

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("slot_id", r.id);
        v.fixed("account_id", r.account);
        v.fixed("key", r.key);
        v.fixed("uuid", r.uuid);
        v.fixed("created_at", r.created_at);
        v("fingerprint", r.fingerprint);
        v("attempts", r.attempts);
        v("created", r.created);
        v("reason", one_of(r.reason, failure_reason::none, failure_reason::not_delivered));
        v("state", one_of(r.state, slot_state::pending, slot_state::in_flight));
        v("task_id", r.task);
        v("settled_at", r.settled_at);
        v("expires", r.expires);
    }
};
extern template const table_info& info_of_table<slot>();

}  // namespace callsign
