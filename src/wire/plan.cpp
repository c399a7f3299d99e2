#include "plan.hpp"

#include <callsign/base/assert.hpp>

#include <memory>
#include <unordered_map>

namespace callsign::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

value_kind kind_of(const FieldDescriptor& field) {
    switch (field.type()) {
    case FieldDescriptor::TYPE_STRING: return value_kind::text;
    case FieldDescriptor::TYPE_INT64: return value_kind::whole;
    case FieldDescriptor::TYPE_BOOL: return value_kind::boolean;
    case FieldDescriptor::TYPE_MESSAGE:
        return field.message_type()->full_name() == "google.protobuf.Timestamp"
                   ? value_kind::timestamp
                   : value_kind::message;
    default: break;
    }
    CALLSIGN_ASSERT(!"a field type that the JSON form has no rule for");
}

bool is_clear(const FieldDescriptor& field) {
    return field.name() == "clear" && field.is_repeated() &&
           field.type() == FieldDescriptor::TYPE_STRING;
}

bool is_only_a_list(const Descriptor& type) {
    return type.field_count() == 1 && type.field(0)->name() == "values" &&
           type.field(0)->is_repeated() && !type.field(0)->is_map();
}

field_plan make_field_plan(const FieldDescriptor& field) {
    field_plan plan;
    plan.field = &field;
    plan.name = field.json_name();
    plan.opening = '"' + plan.name + "\":";
    plan.bit = std::uint64_t{1} << field.index();
    plan.is_map = field.is_map();
    plan.is_list = field.is_repeated() && !plan.is_map;
    if (plan.is_map) {
        const Descriptor& entry = *field.message_type();
        CALLSIGN_ASSERT(kind_of(*entry.map_key()) == value_kind::text);
        CALLSIGN_ASSERT(kind_of(*entry.map_value()) == value_kind::text);
        return plan;
    }
    plan.kind = kind_of(field);
    if (plan.kind == value_kind::message) {
        plan.nested = &plan_of(*field.message_type());
        plan.is_wrapped_list = !plan.is_list && is_only_a_list(*field.message_type());
    }
    return plan;
}

}  // namespace

// One cache per thread, so that requests need no lock. A message that contains itself finds its own
// unfinished plan, whose address is final.
const message_plan& plan_of(const Descriptor& type) {
    thread_local std::unordered_map<const Descriptor*, std::unique_ptr<message_plan>> plans;
    if (const auto known = plans.find(&type); known != plans.end()) return *known->second;

    CALLSIGN_ASSERT(type.field_count() <= 64);
    message_plan& plan = *plans.emplace(&type, std::make_unique<message_plan>()).first->second;
    for (int i = 0; i < type.field_count(); ++i) {
        if (is_clear(*type.field(i))) {
            plan.clear = make_field_plan(*type.field(i));
        } else {
            plan.fields.push_back(make_field_plan(*type.field(i)));
        }
    }
    return plan;
}

}  // namespace callsign::wire
