#pragma once
// How a message looks in JSON, worked out once per message type and thread: names, kinds, and what
// is nested in what. Reader and writer walk the same plan, so they agree by construction.

#include <cstdint>
#include <google/protobuf/descriptor.h>
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
    bool is_wrapped_list = false;          // a message, in JSON the list that is all it has
    const message_plan* nested = nullptr;  // value_kind::message only
    std::uint64_t bit = 0;                 // of this field among its message's
};

struct message_plan {
    std::vector<field_plan> fields;
    // Of a merge patch, the list of what is null; it is not among `fields`. nullptr: it is none.
    const google::protobuf::FieldDescriptor* clear = nullptr;

    // A dozen names: comparing lengths first beats hashing.
    const field_plan* find(std::string_view name) const noexcept {
        for (const field_plan& f : fields) {
            if (f.name == name) return &f;
        }
        return nullptr;
    }
};

// Kept for the life of the thread.
const message_plan& plan_of(const google::protobuf::Descriptor& type);

}  // namespace callsign::wire
