#include "fault.hpp"
#include "json.hpp"
#include "timestamp.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/wire/media_types.hpp>
#include <callsign/wire/message.hpp>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>
#include <limits>
#include <utility>

namespace callsign::wire {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Most responses fit; a longer one grows as strings do.
constexpr std::size_t usual_answer_bytes = 320;

// The path of a nested message; becomes text only for an error.
struct place {
    const place* outer;
    const FieldDescriptor* field;
    int index;  // -1: not in a list
};

std::string path_of(const place* at) {
    if (at == nullptr) return {};
    std::string path = path_of(at->outer);
    if (!path.empty()) path += '.';
    path += at->field->json_name();
    if (at->index >= 0) path.append("[").append(std::to_string(at->index)).append("]");
    return path;
}

// Reports unknown fields, which a misspelt name or another schema would lose silently, and instants
// that JSON cannot express, as they are not checked again.
void find_faults(const Message& message, const place* at, field_errors& found, std::size_t most) {
    const Reflection& access = *message.GetReflection();
    const auto& unknown = access.GetUnknownFields(message);
    for (int i = 0; i < unknown.field_count(); ++i) {
        std::string path = path_of(at);
        if (!path.empty()) path += '.';
        path += std::to_string(unknown.field(i).number());
        add_error(found, {std::move(path), "unknown-field", "Unknown field number."}, most);
    }
    const auto* type = message.GetDescriptor();
    if (type == google::protobuf::Timestamp::descriptor()) {
        if (!is_timestamp(static_cast<const google::protobuf::Timestamp&>(message))) {
            add_error(found,
                      {path_of(at), "invalid",
                       "Must be an instant of the years 1 to 9999, with 0 to 999999999 "
                       "nanoseconds."},
                      most);
        }
        return;
    }
    for (int f = 0; f < type->field_count(); ++f) {
        const FieldDescriptor* field = type->field(f);
        if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) continue;
        if (!field->is_repeated()) {
            const place inside{at, field, -1};
            if (access.HasField(message, field)) {
                find_faults(access.GetMessage(message, field), &inside, found, most);
            }
            continue;
        }
        for (int i = 0; i < access.FieldSize(message, field); ++i) {
            const place inside{at, field, i};
            find_faults(access.GetRepeatedMessage(message, field, i), &inside, found, most);
        }
    }
}

using google::protobuf::io::CodedInputStream;

// Subtracts the number of values from `left`. False: there are more. Ignores malformed input.
bool has_few_values(CodedInputStream& in, const google::protobuf::Descriptor& type,
                    std::size_t& left) {
    while (const std::uint32_t tag = in.ReadTagNoLastTag()) {
        if (left == 0) return false;
        --left;
        std::uint64_t number = 0;
        int bytes = 0;
        switch (tag & 7) {
        case 0:
            if (!in.ReadVarint64(&number)) return true;
            break;
        case 1:
            if (!in.Skip(8)) return true;
            break;
        case 2: {
            if (!in.ReadVarintSizeAsInt(&bytes)) return true;
            const FieldDescriptor* const field = type.FindFieldByNumber(static_cast<int>(tag >> 3));
            const bool is_nested =
                field && !field->is_map() && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
            if (!is_nested) {
                if (!in.Skip(bytes)) return true;
                break;
            }
            const auto limit = in.PushLimit(bytes);
            if (!has_few_values(in, *field->message_type(), left)) return false;
            if (in.BytesUntilLimit() > 0) return true;
            in.PopLimit(limit);
            break;
        }
        case 5:
            if (!in.Skip(4)) return true;
            break;
        default: break;  // the begin or end of a group: its content is counted here
        }
    }
    return true;
}

bool has_few_values(std::string_view bytes, const Message& type, std::size_t values) {
    // A field has at least two bytes.
    if (bytes.size() / 2 <= values) return true;
    CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                        static_cast<int>(bytes.size()));
    return has_few_values(in, *type.GetDescriptor(), values);
}

void read_protobuf(std::string_view bytes, Message& out, field_errors& found, std::size_t most,
                   std::size_t values) {
    // The library logs each string that is not UTF-8 to stderr, where clients could fill the log.
    [[maybe_unused]] static const auto silenced = google::protobuf::SetLogHandler(nullptr);

    const bool fits = bytes.size() <= std::size_t{std::numeric_limits<int>::max()};
    if (fits && !has_few_values(bytes, out, values)) {
        return add_too_many_values(found, values, most);
    }
    if (!fits || !out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        add_error(found, {"", "malformed", "The body is not a well-formed protobuf message."});
        return;
    }
    find_faults(out, nullptr, found, most);
}

// Deterministic: maps are sorted by key, so that equal messages have equal bytes.
void write_protobuf(const Message& message, std::string& out) {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    const bool ok = message.SerializeToCodedStream(&coded);
    CALLSIGN_ASSERT(ok);
}

}  // namespace

bool decode(format from, std::string_view bytes, Message& out, field_errors& found,
            std::size_t most, std::size_t values) {
    const std::size_t before = found.size();
    if (from == format::json) {
        read_json(bytes, out, found, most, values);
    } else {
        read_protobuf(bytes, out, found, most, values);
    }
    return found.size() == before;
}

bool field_choice::add(std::string_view name) {
    for (int i = 0; i < type_->field_count(); ++i) {
        if (type_->field(i)->json_name() != name) continue;
        chosen_ |= std::uint64_t{1} << i;
        return true;
    }
    return false;
}

bool field_choice::has(const FieldDescriptor& field) const noexcept {
    return field.containing_type() != type_ || ((chosen_ >> field.index()) & 1) != 0;
}

void field_choice::apply(Message& message) const {
    const Reflection& access = *message.GetReflection();
    for (int i = 0; i < type_->field_count(); ++i) {
        if (!has(*type_->field(i))) access.ClearField(&message, type_->field(i));
    }
}

std::string encode(format to, const Message& message, const field_choice* only) {
    std::string out;
    out.reserve(usual_answer_bytes);
    if (to == format::json) {
        write_json(message, out, only);
    } else {
        write_protobuf(message, out);
    }
    return out;
}

void set_timestamp(google::protobuf::Timestamp& out, time_point at) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
    const std::chrono::nanoseconds rest = at - seconds;
    out.set_seconds(seconds.time_since_epoch().count());
    out.set_nanos(static_cast<std::int32_t>(rest.count()));
}

time_point to_time_point(const google::protobuf::Timestamp& at) {
    if (!is_timestamp(at)) return at.seconds() < 0 ? instant_first : instant_last;
    return time_point{std::chrono::seconds{at.seconds()} +
                      std::chrono::floor<milliseconds>(std::chrono::nanoseconds{at.nanos()})};
}

std::string_view media_type_of(format f) noexcept {
    return f == format::json ? media_type::json : media_type::protobuf;
}

}  // namespace callsign::wire
