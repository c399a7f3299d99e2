#pragma once
// Conversion of messages to domain values and back; every error in the input is reported. Pure.

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

// A creation as the client meant it. `attributes` are TaskChampion's, without dependencies: these
// may be keys, which only the server can resolve; each becomes a `dep_UUID` later.
struct decoded_create {
    std::optional<callsign::uuid> uuid;
    std::string prefix;
    callsign::attributes attributes;
    std::vector<task_ref> depends;
    // SHA-256 of a canonical form of all members above: the same for a creation in JSON and in
    // protobuf, whatever the order of fields, tags and attributes. The form is our own and
    // versioned, so unlike protobuf's encoding it is stable across releases.
    digest fingerprint{};
};

// `key_attribute`, here and below: the attribute to which the server writes a task's key (empty:
// none). Clients cannot set it, and it is not returned a second time.

// Limits: description 1..65,536 bytes without control characters but tab and newline; project, tag,
// priority and attribute names 1..255 bytes; at most 100 tags, 100 depends, 100 annotations, 100
// attributes; no white space in tags; attribute names are [a-z][a-z0-9_.-]* and not owned by
// another field. Attributes that hold an instant (until, scheduled, start, end) are given in RFC
// 3339 or in seconds since the epoch, and become the latter. A task that Taskwarrior cannot keep is
// rejected (domain/task_faults.hpp); its age is not checked. nullopt: `found` has all errors.
std::optional<decoded_create> to_domain(const v1::CreateTask& message, field_errors& found,
                                        std::string_view key_attribute = "key");

// Adds errors of a task, under the names by which clients set its attributes.
void add_errors(field_errors& found, std::span<const task_fault> wrong,
                std::string_view key_attribute);

// An edit as the client meant it, in the terms of the command edit_task.
struct decoded_edit {
    // None: the attribute is removed. Each name once.
    std::vector<std::pair<std::string, std::optional<std::string>>> changes;
    // Beginnings of attribute names; attributes that are not among the changes are removed, because
    // lists are replaced as a whole.
    std::vector<std::string> replaced;
    // The new list, if given. Resolved later, each becomes a change, like a tag.
    std::optional<std::vector<task_ref>> depends;
};

// Limits as for a creation. The names in `clear` count as attributes, and a text that is given must
// not be empty. Errors name fields as in JSON; an error about a null names the field itself.
std::optional<decoded_edit> to_domain(const v1::EditTask& message, field_errors& found,
                                      std::string_view key_attribute = "key");

// An annotation to add, which has a text, or those to remove, which have a text or an entry.
std::optional<task_action> to_domain(const v1::Annotation& message, task_action::kind verb,
                                     field_errors& found);

v1::Receipt to_message(const receipt& r);
// The inverse of to_domain, for tasks of any origin: `attributes` has those without a field.
v1::Task to_message(const task& t, std::string_view key_attribute = "key");
v1::Change to_message(const task_change& c, std::string_view key_attribute);
v1::Slot to_message(const slot& s, const std::optional<receipt>& r);
v1::Series to_message(const series& s);
v1::Account to_message(const account& a);
v1::Token to_message(const token& t);
// Without the secret.
v1::Webhook to_message(const webhook& w);
v1::WebhookDelivery to_message(const webhook_delivery& d);
// With the client ID only if the account is managed; an opaque account's is its credential.
v1::Device to_message(const device& d);

// ---- Idempotency-Key ----

struct key_missing {};
struct key_malformed {
    std::string detail;
};

// Parses the header field: the quoted form of draft-ietf-httpapi-idempotency-key-header-07 (a
// structured field string, RFC 9651) or the bare form, with 1..255 visible ASCII characters inside.
// `values`: one for each occurrence of the field; more than one is malformed.
std::variant<std::string, key_missing, key_malformed> parse_idempotency_key(
    const std::vector<std::string_view>& values);

}  // namespace callsign::wire
