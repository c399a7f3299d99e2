// Slots of all accounts.

#include "handlers.hpp"
#include "shared/answers.hpp"

#include <callsign/domain/query.hpp>

namespace callsign::api {
namespace {

list_slots read_filter(const request_context& c, wire::field_errors& found) {
    const wire::parameters asked(c.request.query(), {"state", "account", "pageSize", "pageToken"},
                                 found);
    list_slots filter;
    filter.page = read_page(asked, found);
    if (const auto name = asked.get("account"); !name.empty()) filter.account = name;
    if (const auto text = asked.get("state"); !text.empty()) {
        filter.state = parse_slot_state(text);
        if (!filter.state) {
            found.push_back(
                {"state", "invalid", "Must be pending, in_flight, committed or failed."});
        }
    }
    return filter;
}

// Includes what only operators see of a slot.
v1::Slot slot_message(const listed_slot& row) {
    v1::Slot message = wire::to_message(row.slot, row.receipt);
    message.set_account(row.account);
    message.set_idempotency_key(row.slot.key);
    if (row.slot.settled_at)
        wire::set_timestamp(*message.mutable_settled_at(), *row.slot.settled_at);
    return message;
}

}  // namespace

awaitable<http_response> get_slots(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    list_slots question = read_filter(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto found = co_await a.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    v1::SlotList message;
    message.set_next_page_token(next_page_token(**found));
    for (const listed_slot& row : (*found)->rows) *message.add_slots() = slot_message(row);
    co_return answer_message(c, 200, message);
}

}  // namespace callsign::api
