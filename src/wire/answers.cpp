// Conversion of domain values to messages.

#include "attribute_names.hpp"

#include <callsign/base/instant_bounds.hpp>
#include <callsign/base/text.hpp>
#include <callsign/wire/convert.hpp>
#include <callsign/wire/cursor.hpp>

#include <set>

namespace callsign::wire {
namespace {

// Parses TaskChampion's seconds since the epoch; nullopt for anything that a Timestamp cannot hold.
std::optional<std::int64_t> parse_seconds(std::string_view text) noexcept {
    const auto seconds = parse_integer(text);
    if (!seconds || !is_instant_in_seconds(*seconds)) return std::nullopt;
    return seconds;
}

using instant_of_task = google::protobuf::Timestamp* (v1::Task::*)();

// Returns the field of that name that holds an instant; null: there is none.
instant_of_task instant_field_of(std::string_view name) noexcept {
    constexpr std::pair<std::string_view, instant_of_task> fields[] = {
        {"due", &v1::Task::mutable_due},
        {"wait", &v1::Task::mutable_wait},
        {"scheduled", &v1::Task::mutable_scheduled},
        {"until", &v1::Task::mutable_until},
        {"start", &v1::Task::mutable_start},
        {"end", &v1::Task::mutable_end},
        {"entry", &v1::Task::mutable_entry},
        {"modified", &v1::Task::mutable_modified},
    };
    for (const auto& [field, instant] : fields) {
        if (field == name) return instant;
    }
    return nullptr;
}

// Returns the part of `name` after `start`; nullopt if `name` does not start so, or ends there.
std::optional<std::string_view> after(std::string_view name, std::string_view start) noexcept {
    if (!name.starts_with(start) || name.size() == start.size()) return std::nullopt;
    return name.substr(start.size());
}

// False: the attribute has no field, or its value does not fit in there.
bool put_in_field(std::string_view name, const std::string& value, v1::Task& out) {
    if (name == "description") return out.set_description(value), true;
    if (name == "status") return out.set_status(value), true;
    if (name == "project") return out.set_project(value), true;
    if (name == "priority") return out.set_priority(value), true;
    if (name == "recur") return out.set_recur(value), true;
    if (const auto instant = instant_field_of(name)) {
        const std::optional<std::int64_t> seconds = parse_seconds(value);
        if (seconds) (out.*instant)()->set_seconds(*seconds);
        return seconds.has_value();
    }
    if (const auto tag = after(name, names::tag)) {
        out.add_tags(std::string(*tag));
        return true;
    }
    if (const auto dependency = after(name, names::dependency)) {
        const std::optional<uuid> id = parse_uuid(*dependency);
        if (id) out.add_depends(to_string(*id));
        return id.has_value();
    }
    if (const auto stamp = after(name, names::annotation)) {
        const std::optional<std::int64_t> seconds = parse_seconds(*stamp);
        if (!seconds) return false;
        v1::Annotation& annotation = *out.add_annotations();
        annotation.mutable_entry()->set_seconds(*seconds);
        annotation.set_description(value);
        return true;
    }
    return false;
}

// Whether the text is the task's key, under any prefix.
bool is_key_of(const task& t, std::string_view text) {
    const auto ref = parse_task_ref(text);
    const auto* const key = ref ? std::get_if<task_key>(&*ref) : nullptr;
    return key != nullptr && t.numbered && key->period == t.numbered->period &&
           key->number == t.numbered->number;
}

}  // namespace

v1::Receipt to_message(const receipt& r) {
    v1::Receipt out;
    out.set_uuid(to_string(r.uuid));
    out.set_key(key_of(r));
    out.set_prefix(r.prefix);
    out.set_period(r.period);
    out.set_number(r.number);
    out.set_seq(r.seq);
    set_timestamp(*out.mutable_created_at(), r.created_at);
    out.set_created(r.created);
    return out;
}

v1::Task to_message(const task& t, std::string_view key_attribute) {
    v1::Task out;
    out.set_uuid(to_string(t.uuid));
    if (t.numbered) {
        out.set_key(format_key(t.current_prefix, t.numbered->period, t.numbered->number));
        out.set_prefix(t.current_prefix);
        out.set_period(t.numbered->period);
        out.set_number(t.numbered->number);
    }
    out.set_seq(t.last_seq);
    set_timestamp(*out.mutable_created_at(), t.created_at);
    out.set_made_by(t.author_name);
    if (!t.purged) out.set_etag(etag_of(t.tag));
    for (const auto& [name, value] : t.attributes) {
        // For Taskwarrior the key may be an attribute as well; after the series is renamed it has
        // the former prefix until the task is next changed.
        if (name == key_attribute && is_key_of(t, value)) continue;
        // Taskwarrior's copies of tags and dependencies.
        if (name == "tags" || name == "depends") continue;
        if (!put_in_field(name, value, out)) {
            (*out.mutable_attributes())[name] = value;
        }
    }
    return out;
}

v1::Change to_message(const task_change& c, std::string_view key_attribute) {
    v1::Change out;
    out.set_cursor(cursor_text(c.place, c.mark));
    out.set_seq(c.place.seq);
    set_timestamp(*out.mutable_at(), c.at);
    out.set_by(c.by);
    *out.mutable_task() = to_message(c.task, key_attribute);
    out.set_purged(c.task.purged);
    std::set<std::string> fields;
    for (const std::string& name : c.changed) fields.insert(names::field_of(name, key_attribute));
    for (const std::string& field : fields) out.add_changed(field);
    return out;
}

v1::Slot to_message(const slot& s, const std::optional<receipt>& r) {
    v1::Slot out;
    out.set_state(std::string(to_string(s.state)));
    out.set_uuid(to_string(s.uuid));
    if (r) *out.mutable_receipt() = to_message(*r);
    out.set_reason(std::string(to_string(s.reason)));
    set_timestamp(*out.mutable_created_at(), s.created_at);
    out.set_attempts(s.attempts);
    return out;
}

v1::Series to_message(const series& s) {
    v1::Series out;
    out.set_prefix(s.prefix);
    out.set_reset(std::string(to_string(s.reset)));
    out.set_time_zone(s.time_zone);
    out.set_project(s.project);
    out.set_next(s.last_number + 1);
    out.set_is_default(s.is_default);
    out.set_period(s.period);
    out.set_archived(s.archived);
    out.set_allows_gaps(s.allows_gaps);
    out.set_held(s.held);
    return out;
}

v1::Account to_message(const account& a) {
    v1::Account out;
    out.set_account_id(std::to_string(a.id.value));
    out.set_name(a.name);
    out.set_prefix(a.default_prefix);
    set_timestamp(*out.mutable_created_at(), a.created_at);
    out.set_seq(a.head.seq);
    out.set_mode(std::string(to_string(a.mode)));
    out.set_state(std::string(to_string(a.state)));
    out.set_stored_bytes(a.stored_bytes);
    if (a.deleted_at) set_timestamp(*out.mutable_deleted_at(), *a.deleted_at);
    return out;
}

v1::Token to_message(const token& t) {
    v1::Token out;
    out.set_token_id(std::to_string(t.id.value));
    out.set_name(t.name);
    out.set_scope(std::string(to_string(t.scope)));
    set_timestamp(*out.mutable_created_at(), t.created_at);
    if (t.revoked_at) set_timestamp(*out.mutable_revoked_at(), *t.revoked_at);
    if (t.expires_at) set_timestamp(*out.mutable_expires_at(), *t.expires_at);
    return out;
}

v1::Webhook to_message(const webhook& w) {
    v1::Webhook out;
    out.set_webhook_id(to_string(w.uuid));
    out.set_url(w.url);
    out.set_filter(w.filter);
    out.set_state(w.disabled ? "disabled" : "active");
    if (w.disabled) out.set_reason(std::string(to_string(*w.disabled)));
    out.set_failures(w.failures);
    set_timestamp(*out.mutable_created_at(), w.created_at);
    out.set_cursor(cursor_text(w.after, w.mark));
    if (w.former_until) set_timestamp(*out.mutable_former_secret_until(), *w.former_until);
    return out;
}

v1::WebhookDelivery to_message(const webhook_delivery& d) {
    v1::WebhookDelivery out;
    out.set_delivery_id(d.id);
    set_timestamp(*out.mutable_at(), d.at);
    out.set_changes(d.changes);
    out.set_status(d.status);
    out.set_error(d.error);
    out.set_delivered(d.delivered);
    out.set_took_ms(d.took.count());
    return out;
}

v1::Device to_message(const device& d) {
    v1::Device out;
    out.set_device_id(std::to_string(d.id.value));
    out.set_name(d.name);
    if (d.mode == account_mode::managed) out.set_client_id(to_string(d.client_id));
    set_timestamp(*out.mutable_created_at(), d.created_at);
    if (d.revoked_at) set_timestamp(*out.mutable_revoked_at(), *d.revoked_at);
    if (d.resync) out.set_resync(std::string(to_string(d.resync->now)));
    return out;
}

}  // namespace callsign::wire
