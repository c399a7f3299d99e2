#include "task_fields.hpp"

#include "attribute_names.hpp"
#include "fault.hpp"
#include "timestamp.hpp"

#include <callsign/base/text.hpp>
#include <callsign/domain/task_faults.hpp>

#include <algorithm>

namespace callsign::wire {
namespace {

constexpr std::size_t name_bytes_max = 255;

// Returns "pending, completed or recurring".
std::string one_of(std::span<const std::string_view> words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
        text += words[i];
    }
    return text;
}

}  // namespace

std::string element(std::string_view list, int index) {
    return std::string(list).append("[").append(std::to_string(index)).append("]");
}

bool task_fields::is_owned(std::string_view attribute) const {
    return names::is_owned(attribute, key_attribute_);
}

void task_fields::fault(std::string field, std::string_view code, std::string detail) {
    add_error(found_, {std::move(field), std::string(code), std::move(detail)});
}

// ---- kinds of values ----

bool task_fields::is_text(const std::string& text, std::string_view field) {
    return is_good(fault_of_text(text), field);
}

bool task_fields::is_good(const std::optional<value_fault>& wrong, std::string_view field) {
    if (wrong) fault(std::string(field), wrong->code, std::string(wrong->detail));
    return !wrong;
}

bool task_fields::is_few(std::size_t count, std::string_view field) {
    if (count <= static_cast<std::size_t>(entries_max)) return true;
    fault(std::string(field), "too-many", "Must have at most 100 entries.");
    return false;
}

// TaskChampion's instants are whole seconds.
std::optional<std::int64_t> task_fields::seconds_of(const google::protobuf::Timestamp& at,
                                                    const std::string& field) {
    if (is_timestamp(at) && is_kept_instant(at.seconds())) return at.seconds();
    fault(field, "invalid", "Must be an instant of the years 1980 to 9999.");
    return std::nullopt;
}

// Accepts the form that is shown and the form that is stored, seconds since the epoch.
void task_fields::read_instant_text(const std::string& name, const std::string& text,
                                    const std::string& field) {
    std::int64_t seconds = 0;
    if (const auto at = parse_rfc3339(text)) {
        seconds = std::chrono::floor<std::chrono::seconds>(*at).time_since_epoch().count();
    } else {
        const auto read = parse_integer(text);
        if (!read) {
            fault(field, "invalid", "Must be an instant such as 2026-11-20T12:48:00Z.");
            return;
        }
        seconds = *read;
    }
    google::protobuf::Timestamp stamp;
    stamp.set_seconds(seconds);
    if (const auto good = seconds_of(stamp, field)) put(name, std::to_string(*good));
}

// ---- fields ----

void task_fields::read_description(const std::string& text) {
    if (is_text(text, "description")) put("description", text);
}

void task_fields::read_name(const char* field, const std::string& name) {
    if (name.empty()) return;
    if (name.size() > name_bytes_max) {
        fault(field, "too-long", "Must have at most 255 bytes.");
    } else if (has_control(name, false)) {
        fault(field, "invalid", "Must not have control characters.");
    } else {
        put(field, name);
    }
}

void task_fields::read_status(std::string_view status, std::span<const std::string_view> known) {
    if (std::find(known.begin(), known.end(), status) == known.end()) {
        fault("status", "invalid", "Must be " + one_of(known) + ".");
    } else {
        put("status", status);
    }
}

void task_fields::read_instant(const char* field, const google::protobuf::Timestamp& at) {
    if (const auto seconds = seconds_of(at, field)) put(field, std::to_string(*seconds));
}

void task_fields::read_tags(const list<std::string>& tags) {
    if (!is_few(static_cast<std::size_t>(tags.size()), "tags")) return;
    std::string name;
    for (int i = 0; i < tags.size(); ++i) {
        const std::string& tag = tags[i];
        if (tag.empty()) {
            fault(element("tags", i), "required", "Must not be empty.");
        } else if (tag.size() > name_bytes_max) {
            fault(element("tags", i), "too-long", "Must have at most 255 bytes.");
        } else if (has_control(tag, false) || tag.find(' ') != std::string::npos) {
            fault(element("tags", i), "invalid", "Must not have white space.");
        } else if (!is_exportable_name(tag)) {
            fault(element("tags", i), "invalid", "Must not have quotation marks or backslashes.");
        } else {
            put(name.assign(names::tag).append(tag), "");
        }
    }
}

std::vector<task_ref> task_fields::read_depends(const list<std::string>& refs,
                                                const std::optional<uuid>& self) {
    std::vector<task_ref> depends;
    if (!is_few(static_cast<std::size_t>(refs.size()), "depends")) return depends;
    for (int i = 0; i < refs.size(); ++i) {
        std::optional<task_ref> ref = parse_task_ref(refs[i]);
        if (!ref) {
            fault(element("depends", i), "malformed-task-ref",
                  "Must be a UUID or a key such as SYN-42.");
        } else if (self && *ref == task_ref{*self}) {
            fault(element("depends", i), "invalid", "Must not be the task itself.");
        } else {
            depends.push_back(std::move(*ref));
        }
    }
    std::sort(depends.begin(), depends.end(),
              [](const task_ref& a, const task_ref& b) { return to_string(a) < to_string(b); });
    depends.erase(std::unique(depends.begin(), depends.end()), depends.end());
    return depends;
}

std::optional<std::int64_t> task_fields::read_entry(const google::protobuf::Timestamp& entry,
                                                    const std::string& field) {
    const auto at = seconds_of(entry, field);
    if (!at || *at <= annotation_seconds_max) return at;
    fault(field, "invalid", "Must be an instant of the years 1980 to 2037.");
    return std::nullopt;
}

// The second identifies an annotation, so a later one moves to the next, as in Taskwarrior.
void task_fields::read_annotations(const list<v1::Annotation>& annotations) {
    if (!is_few(static_cast<std::size_t>(annotations.size()), "annotations")) return;
    for (int i = 0; i < annotations.size(); ++i) {
        const v1::Annotation& annotation = annotations[i];
        const std::string where = element("annotations", i);
        const bool has_text = is_text(annotation.description(), where + ".description");
        if (!annotation.has_entry()) {
            fault(where + ".entry", "required", "Must be given.");
            continue;
        }
        auto at = read_entry(annotation.entry(), where + ".entry");
        if (!at || !has_text) continue;
        std::string name = names::annotation + std::to_string(*at);
        while (out_.contains(name)) name = names::annotation + std::to_string(++*at);
        put(name, annotation.description());
    }
}

void task_fields::read_attributes(const google::protobuf::Map<std::string, std::string>& entries) {
    if (!is_few(entries.size(), "attributes")) return;
    for (const auto& [name, value] : entries) {
        const std::string where = "attributes." + std::string(shortened(name));
        if (name.size() > name_bytes_max) {
            fault(where, "too-long", "A name must have at most 255 bytes.");
        } else if (!names::is_well_formed(name)) {
            fault(where, "malformed",
                  "A name must be a lower-case letter, then lower-case letters, digits, '_', '.' "
                  "and '-'.");
        } else if (is_owned(name)) {
            fault(where, "invalid", "This attribute belongs to another field.");
        } else if (out_.contains(name)) {
            fault(where, "invalid", "Must not also be set in its own field.");
        } else if (is_instant_name(name)) {
            read_instant_text(name, value, where);
        } else if ((value.empty() || is_text(value, where)) &&
                   is_good(fault_of_attribute(name, value), where)) {
            put(name, value);
        }
    }
}

}  // namespace callsign::wire
