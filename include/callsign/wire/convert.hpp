#pragma once
// Messages <-> domain, with every fault of the input named. Pure.

#include "callsign/v1/callsign.pb.h"

#include <callsign/domain/account.hpp>
#include <callsign/domain/device.hpp>
#include <callsign/domain/queries/feed.hpp>
#include <callsign/domain/slot.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/task_action.hpp>
#include <callsign/domain/task_faults.hpp>
#include <callsign/domain/webhook.hpp>
#include <callsign/wire/message.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace callsign::wire {

// A creation as the client meant it. `attributes` is TaskChampion's map, but for the dependencies,
// which may be keys that only the server can resolve: each becomes `dep_UUID` later.
struct decoded_create {
    std::optional<callsign::uuid> uuid;
    std::string prefix;
    callsign::attributes attributes;
    std::vector<task_ref> depends;
    // SHA-256 over a canonical form of all the above: the same for the JSON and the protobuf form
    // of one creation, whatever the order of its fields, tags or attributes. The form is ours and
    // versioned, not protobuf's, so that it holds across releases.
    digest fingerprint{};
};

// `key_attribute` here and below: where the server writes a task's key (empty: nowhere). It is no
// client's to set, and not shown a second time.

// Bounds: description 1..65,536 bytes without control characters but tab and newline; project, tag,
// priority and attribute names 1..255 bytes; at most 100 tags, 100 depends, 100 annotations, 100
// attributes; tags have no white space; attribute names are [a-z][a-z0-9_.-]* and none of those the
// other fields own; those that hold an instant (until, scheduled, start, end) have it as RFC 3339
// or in seconds since the epoch, which is what becomes of both. Nor is it a task that Taskwarrior
// cannot keep (domain/task_faults.hpp), but for its age. nullopt: `found` has a fault for
// everything wrong.
std::optional<decoded_create> to_domain(const v1::CreateTask& message, faults& found,
                                        std::string_view key_attribute = "key");

// What a task cannot be like, by the names that a client gives its attributes.
void add_faults(faults& found, std::span<const task_fault> wrong, std::string_view key_attribute);

// An edit as the client meant it, in the terms of the command edit_task.
struct decoded_edit {
    // None: the attribute goes. Each name once.
    std::vector<std::pair<std::string, std::optional<std::string>>> changes;
    // The start of those that go unless they are among the changes: lists are given whole.
    std::vector<std::string> replaced;
    // The whole list, if it is given: like a tag, each becomes a change once it is resolved.
    std::optional<std::vector<task_ref>> depends;
};

// Bounds as in a creation, the names under `clear` counted among the attributes; a text that is
// given is not empty. Faults name fields as JSON has them: of what null says, the field itself.
std::optional<decoded_edit> to_domain(const v1::EditTask& message, faults& found,
                                      std::string_view key_attribute = "key");

// An annotation to add, which has a text, or those to take away, which have one or an entry.
std::optional<task_action> to_domain(const v1::Annotation& message, task_action::kind verb,
                                     faults& found);

v1::Receipt to_message(const receipt& r);
// The reverse of to_domain, of any task, however it came: what has no field of its own is in
// `attributes`.
v1::Task to_message(const task& t, std::string_view key_attribute = "key");
// Without its cursor.
v1::Change to_message(const task_change& c, std::string_view key_attribute);
v1::Slot to_message(const slot& s, const std::optional<receipt>& r);
v1::Series to_message(const series& s);
v1::Account to_message(const account& a);
v1::Token to_message(const token& t);
// Without its cursor and its secret.
v1::Webhook to_message(const webhook& w);
v1::WebhookDelivery to_message(const webhook_delivery& d);
// With its client id if its account is managed; an opaque account's is what lets a client in.
v1::Device to_message(const device& d);

// ---- Idempotency-Key ----

struct key_missing {};
struct key_malformed {
    std::string detail;
};

// The value of the header field: the quoted form of draft-ietf-httpapi-idempotency-key-header-07 (a
// structured field string, RFC 9651), or the bare form; 1..255 visible ASCII characters inside.
// `values`: one for each occurrence of the field; more than one is malformed.
std::variant<std::string, key_missing, key_malformed> parse_idempotency_key(
    const std::vector<std::string_view>& values);

}  // namespace callsign::wire
