#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/retry_records.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <unordered_map>

namespace callsign::rules {

find_slot::answer read(read_tx& tx, const find_slot& q) {
    auto found = slots::find(tx, q.account, q.key);
    if (!found) return std::nullopt;
    std::optional<receipt> given;
    if (found->state == slot_state::committed) given = tasks::receipt_of(tx, *found);
    return find_slot::found{std::move(*found), std::move(given)};
}

list_slots::answer read(read_tx& tx, const list_slots& q) {
    std::optional<account_id> account;
    if (q.account) {
        const auto owner = accounts::find(tx, *q.account);
        if (!owner) return std::nullopt;
        account = owner->id;
    }
    // One row more than requested shows whether there is another page.
    auto rows = slots::some(tx, slot_id{q.page.after}, q.page.size + 1, q.state, account);
    auto found = page_from(std::move(rows), q.page);
    std::unordered_map<account_id, std::string> names;
    page_of<listed_slot> page{{}, found.has_more};
    for (slot& s : found.rows) {
        auto& name = names[s.account];
        if (name.empty()) {
            if (const auto owner = accounts::find(tx, s.account)) name = owner->name;
        }
        std::optional<receipt> given;
        if (s.state == slot_state::committed) given = tasks::receipt_of(tx, s);
        const slot_id id = s.id;
        page.rows.push_back({id, std::move(s), std::move(given), name});
    }
    return page;
}

count_pending_slots::answer read(read_tx& tx, const count_pending_slots&) {
    const auto rows = slots::some(tx, slot_id{}, count_pending_slots::counted_max,
                                  slot_state::pending, std::nullopt);
    count_pending_slots::answer counted;
    counted.count = static_cast<std::int64_t>(rows.size());
    if (!rows.empty()) counted.oldest = rows.front().created_at;
    return counted;
}

find_retry_times::answer read(read_tx& tx, const find_retry_times& q) {
    return retry_records::find(tx, q.accounts);
}

}  // namespace callsign::rules
