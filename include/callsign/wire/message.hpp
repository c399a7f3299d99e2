#pragma once
// Encoding and decoding of messages, in JSON and in protobuf. Pure.
//
// The JSON form has the proto fields in lowerCamelCase; int64 are JSON numbers; Timestamps are RFC
// 3339 in UTC; maps of strings are objects. Written: fields with their default value (0, "", false,
// empty, unset) are omitted, except for int64, bool and the list that a listing is about (field 1),
// which are always present. Read: an unknown field, a repeated field and a value of the wrong type
// are errors, named by their path ("annotations[0].entry"); null means "not given". The canonical
// JSON of the messages (protobuf.dev/programming-guides/json) is read, too: int64 as strings, and
// the special messages below as they are.
//
// Two kinds of messages are special in JSON. A message whose only field is a list called `values`
// is, as a field, that array: a list that can be absent. A message with a list of strings called
// `clear` is a merge patch (RFC 7396): `clear` is no field of the JSON form, but has the names of
// the fields that are null, and of null map entries as "attributes.NAME".

#include <callsign/base/time.hpp>

#include <cstdint>
#include <google/protobuf/message.h>
#include <google/protobuf/timestamp.pb.h>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::wire {

enum class format : std::uint8_t { json, protobuf };

struct field_error {
    std::string field;   // a path; empty: the whole body
    std::string code;    // unknown-field, duplicate-field, wrong-type, invalid, required, too-long,
                         // malformed ...
    std::string detail;  // a sentence

    friend bool operator==(const field_error&, const field_error&) = default;
};
using field_errors = std::vector<field_error>;

// Decoding ends at this number of errors.
constexpr std::size_t faults_max = 100;

// Adds an error, unless `found` has `most`, or one for its field: the first error of a field is the
// cause of later ones, and an unreadable field is not also "required".
void add_error(field_errors& found, field_error fault, std::size_t most = faults_max);

// Returns a name that a client gave, cut to a length that fits in a response.
std::string_view shortened(std::string_view name) noexcept;

// Maximum of entries in one map. A message may allow fewer.
inline constexpr std::size_t map_entries_max = 10'000;

// Maximum of fields and elements of one body, at any depth. Each takes time and memory however
// small it is, and decoding delays all other requests.
inline constexpr std::size_t values_max = 50'000;

// Decodes into `out`. Appends errors to `found` while there are fewer than `most`; if `most` is
// reached, some of the body was not read. Returns true if no error was added. A body of more than
// `values` values is rejected as a whole.
bool decode(format from, std::string_view bytes, google::protobuf::Message& out,
            field_errors& found, std::size_t most = faults_max, std::size_t values = values_max);

// Some fields of a message type, for a response that leaves the others out.
class field_choice {
  public:
    explicit field_choice(const google::protobuf::Descriptor& type) : type_(&type) {}

    // Adds a field by its name in JSON. False: the type has none.
    bool add(std::string_view name);
    // Returns whether the field is of another type, or chosen.
    bool has(const google::protobuf::FieldDescriptor& field) const noexcept;
    // Removes the other fields from a message of this type.
    void apply(google::protobuf::Message& message) const;

  private:
    const google::protobuf::Descriptor* type_;
    std::uint64_t chosen_ = 0;  // by index
};

// `only`: none: all fields.
std::string encode(format to, const google::protobuf::Message& message,
                   const field_choice* only = nullptr);

void set_timestamp(google::protobuf::Timestamp& out, time_point at);
// Truncates to milliseconds. Instants that decode() rejects become the first or the last valid one.
time_point to_time_point(const google::protobuf::Timestamp& at);

// Returns "application/json" or "application/x-protobuf", for Content-Type.
std::string_view media_type_of(format f) noexcept;

}  // namespace callsign::wire
