#include "json.hpp"
#include "json_text.hpp"
#include "plan.hpp"

#include <callsign/base/time.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <google/protobuf/timestamp.pb.h>
#include <optional>
#include <utility>
#include <vector>

namespace callsign::wire {
namespace {

using google::protobuf::Message;
using google::protobuf::Reflection;

void write_whole(std::int64_t value, std::string& out) {
    std::array<char, 20> digits;
    const char* end = std::to_chars(digits.begin(), digits.end(), value).ptr;
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

void write_timestamp(const Message& message, std::string& out) {
    const auto& stamp = static_cast<const google::protobuf::Timestamp&>(message);
    out += '"';
    out += to_rfc3339(to_time_point(stamp));
    out += '"';
}

// `only`: as in encode().
void write_message(const Message& message, const message_plan& plan, std::string& out,
                   const field_choice* only);

// Returns what a merge patch removes: fields, and entries of maps as "field.name".
std::vector<std::string> removed_by(const Message& message, const message_plan& plan) {
    std::vector<std::string> names;
    if (!plan.clear) return names;
    const Reflection& access = *message.GetReflection();
    for (int i = 0; i < access.FieldSize(message, plan.clear->field); ++i) {
        names.push_back(access.GetRepeatedString(message, plan.clear->field, i));
    }
    return names;
}

// Sorted, so that equal messages have equal bytes. `removed` entries are null.
void write_map(const Message& message, const field_plan& f, const std::vector<std::string>& removed,
               std::string& out) {
    const Reflection& access = *message.GetReflection();
    const auto* key = f.field->message_type()->map_key();
    const auto* value = f.field->message_type()->map_value();
    std::vector<std::pair<std::string, std::optional<std::string>>> entries;
    for (int i = 0; i < access.FieldSize(message, f.field); ++i) {
        const Message& entry = access.GetRepeatedMessage(message, f.field, i);
        entries.emplace_back(entry.GetReflection()->GetString(entry, key),
                             entry.GetReflection()->GetString(entry, value));
    }
    const std::string start = f.name + ".";
    for (const std::string& name : removed) {
        if (name.starts_with(start)) entries.emplace_back(name.substr(start.size()), std::nullopt);
    }
    std::sort(entries.begin(), entries.end());
    char before = '{';
    for (const auto& [name, text] : entries) {
        out += std::exchange(before, ',');
        write_text(name, out);
        out += ':';
        if (text) {
            write_text(*text, out);
        } else {
            out += "null";
        }
    }
    out += '}';
}

void write_list(const Message& message, const field_plan& f, std::string& out,
                const field_choice* only) {
    const Reflection& access = *message.GetReflection();
    std::string scratch;
    out += '[';
    for (int i = 0; i < access.FieldSize(message, f.field); ++i) {
        if (i > 0) out += ',';
        switch (f.kind) {
        case value_kind::text:
            write_text(access.GetRepeatedStringReference(message, f.field, i, &scratch), out);
            break;
        case value_kind::whole:
            write_whole(access.GetRepeatedInt64(message, f.field, i), out);
            break;
        case value_kind::boolean:
            out += access.GetRepeatedBool(message, f.field, i) ? "true" : "false";
            break;
        case value_kind::timestamp:
            write_timestamp(access.GetRepeatedMessage(message, f.field, i), out);
            break;
        case value_kind::message:
            write_message(access.GetRepeatedMessage(message, f.field, i), *f.nested, out, only);
            break;
        }
    }
    out += ']';
}

void write_value(const Message& message, const field_plan& f, std::string& out,
                 const field_choice* only) {
    const Reflection& access = *message.GetReflection();
    std::string scratch;
    switch (f.kind) {
    case value_kind::text:
        write_text(access.GetStringReference(message, f.field, &scratch), out);
        break;
    case value_kind::whole: write_whole(access.GetInt64(message, f.field), out); break;
    case value_kind::boolean: out += access.GetBool(message, f.field) ? "true" : "false"; break;
    case value_kind::timestamp: write_timestamp(access.GetMessage(message, f.field), out); break;
    case value_kind::message:
        write_message(access.GetMessage(message, f.field), *f.nested, out, only);
        break;
    }
}

bool is_written(const Message& message, const field_plan& f) {
    const Reflection& access = *message.GetReflection();
    // A list that is field 1 is the subject of a listing (AIP-158): present even if empty.
    if (f.is_list && f.field->number() == 1) return true;
    if (f.is_list || f.is_map) return access.FieldSize(message, f.field) > 0;
    const bool is_always_there = f.kind == value_kind::whole || f.kind == value_kind::boolean;
    if (is_always_there && !f.field->has_presence()) return true;
    return access.HasField(message, f.field);
}

bool has_removed_entries(const field_plan& f, const std::vector<std::string>& removed) {
    return f.is_map && std::any_of(removed.begin(), removed.end(), [&](const std::string& name) {
               return name.starts_with(f.name + ".");
           });
}

void write_message(const Message& message, const message_plan& plan, std::string& out,
                   const field_choice* only) {
    const std::vector<std::string> removed = removed_by(message, plan);
    char before = '{';
    for (const field_plan& f : plan.fields) {
        if (only != nullptr && !only->has(*f.field)) continue;
        const bool is_removed = std::find(removed.begin(), removed.end(), f.name) != removed.end();
        if (!is_removed && !is_written(message, f) && !has_removed_entries(f, removed)) continue;
        out += std::exchange(before, ',');
        out += f.opening;
        if (is_removed) {
            out += "null";
        } else if (f.is_map) {
            write_map(message, f, removed, out);
        } else if (f.is_list) {
            write_list(message, f, out, only);
        } else if (f.is_wrapped_list) {
            write_list(message.GetReflection()->GetMessage(message, f.field),
                       f.nested->fields.front(), out, only);
        } else {
            write_value(message, f, out, only);
        }
    }
    if (before == '{') out += '{';
    out += '}';
}

}  // namespace

void write_json(const Message& message, std::string& out, const field_choice* only) {
    write_message(message, plan_of(*message.GetDescriptor()), out, only);
}

}  // namespace callsign::wire
