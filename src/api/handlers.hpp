#pragma once
// The handlers of the route table, and the few words they share. Each is: decode, one await of the
// engine, encode.

#include "call.hpp"
#include "problem.hpp"
#include "uri.hpp"

#include <callsign/wire/convert.hpp>

#include <google/protobuf/message.h>
#include <variant>

namespace callsign::api {

// tasks.cpp
awaitable<http_response> create_task(rooms& r, call& c);
awaitable<http_response> show_task(rooms& r, call& c);
// edits.cpp
awaitable<http_response> change_task(rooms& r, call& c);
awaitable<http_response> delete_task(rooms& r, call& c);
// import.cpp
awaitable<http_response> import_tasks_to(rooms& r, call& c);
// slots.cpp
awaitable<http_response> show_slot(rooms& r, call& c);
// series.cpp
awaitable<http_response> show_account(rooms& r, call& c);
awaitable<http_response> list_series(rooms& r, call& c);
awaitable<http_response> add_series(rooms& r, call& c);
awaitable<http_response> list_series_of(rooms& r, call& c);
awaitable<http_response> add_series_to(rooms& r, call& c);
// tokens.cpp
awaitable<http_response> list_tokens(rooms& r, call& c);
awaitable<http_response> add_token(rooms& r, call& c);
awaitable<http_response> revoke_own_token(rooms& r, call& c);
awaitable<http_response> list_tokens_of(rooms& r, call& c);
awaitable<http_response> add_token_to(rooms& r, call& c);
awaitable<http_response> list_operator_tokens(rooms& r, call& c);
awaitable<http_response> add_operator_token(rooms& r, call& c);
awaitable<http_response> revoke_any_token(rooms& r, call& c);
// devices.cpp
awaitable<http_response> list_devices(rooms& r, call& c);
awaitable<http_response> add_device(rooms& r, call& c);
awaitable<http_response> revoke_own_device(rooms& r, call& c);
awaitable<http_response> list_devices_of(rooms& r, call& c);
awaitable<http_response> add_device_to(rooms& r, call& c);
awaitable<http_response> revoke_device_of(rooms& r, call& c);
// Nobody has it, and nobody can guess it.
uuid draw_client_id(entropy& source);
// admin.cpp
awaitable<http_response> list_accounts(rooms& r, call& c);
awaitable<http_response> add_account(rooms& r, call& c);
awaitable<http_response> list_slots(rooms& r, call& c);
awaitable<http_response> show_reaper(rooms& r, call& c);
awaitable<http_response> sweep_now(rooms& r, call& c);
// sync/versions.cpp
awaitable<http_response> add_version(rooms& r, call& c);
awaitable<http_response> get_child_version(rooms& r, call& c);
// sync/snapshots.cpp
awaitable<http_response> add_snapshot(rooms& r, call& c);
awaitable<http_response> get_snapshot(rooms& r, call& c);
// sync/imports.cpp
awaitable<http_response> put_client(rooms& r, call& c);
awaitable<http_response> import_version(rooms& r, call& c);
awaitable<http_response> import_snapshot(rooms& r, call& c);
// manage.cpp
awaitable<http_response> manage_opaque_account(rooms& r, call& c);
awaitable<http_response> show_managing(rooms& r, call& c);
// ops.cpp
awaitable<http_response> show_product(rooms& r, call& c);
awaitable<http_response> show_alive(rooms& r, call& c);
awaitable<http_response> show_ready(rooms& r, call& c);
awaitable<http_response> show_metrics(rooms& r, call& c);

// ---- words they share ----

template <class... Cases>
struct overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
overloaded(Cases...) -> overloaded<Cases...>;

http_response answer_message(const call& c, unsigned status,
                             const google::protobuf::Message& message);

// An answer that holds a secret: nothing on the way may keep it.
http_response answer_secret(const call& c, unsigned status,
                            const google::protobuf::Message& message);

// Reads the body as far as it can be read, so that what is wrong with the fields that could be is
// told in the same answer. False: it is no message at all.
bool read_body(const call& c, google::protobuf::Message& message, wire::faults& found);

// Adds a fault unless its field has one already: what could not be read is not also "required".
void add_fault(wire::faults& found, wire::field_fault fault);

http_response answer_no_account(const call& c);

// Of a listing that has pages and nothing else to ask for.
page read_page(const call& c, wire::faults& found);

// At most p.size of `rows` (in the order of their ids), and the token of the page after them;
// empty: that was all.
template <class Row>
std::string cut_to_page(std::vector<Row>& rows, const page& p) {
    std::erase_if(rows, [&](const Row& row) { return row.id.value <= p.after; });
    if (static_cast<std::int64_t>(rows.size()) <= p.size) return {};
    rows.resize(static_cast<std::size_t>(p.size));
    return page_token(rows.back().id.value);
}

}  // namespace callsign::api
