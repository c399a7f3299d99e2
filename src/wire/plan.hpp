#pragma once
// The JSON form of a message type, determined once per type and thread: names, kinds and nesting.
// Reader and writer use the same plan, so they agree by construction.

#include <cstdint>
#include <google/protobuf/descriptor.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::wire {

enum class value_kind : std::uint8_t { text, whole, boolean, timestamp, message };

struct message_plan;

struct field_plan {
    const google::protobuf::FieldDescriptor* field = nullptr;
    std::string name;     // lowerCamelCase
    std::string opening;  // "name": with its quotes and colon
    value_kind kind = value_kind::text;
    bool is_list = false;
    bool is_map = false;                   // of strings to strings
    bool is_wrapped_list = false;          // a message that in JSON is the list in its only field
    const message_plan* nested = nullptr;  // value_kind::message only
    std::uint64_t bit = 0;                 // of the field within its message
};

struct message_plan {
    std::vector<field_plan> fields;
    // In a merge patch the list of null fields, which is not among `fields`. None: not a patch.
    std::optional<field_plan> clear{};

    // With about a dozen names, comparing lengths first is faster than hashing.
    const field_plan* find(std::string_view name) const noexcept {
        for (const field_plan& f : fields) {
            if (f.name == name) return &f;
        }
        if (clear && clear->name == name) return &*clear;
        return nullptr;
    }
};

// Valid for the life of the thread.
const message_plan& plan_of(const google::protobuf::Descriptor& type);

}  // namespace callsign::wire
