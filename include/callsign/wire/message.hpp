#pragma once
// Bytes <-> messages, both ways, in JSON and in protobuf. Pure.
//
// The JSON form is the proto fields in lowerCamelCase; int64 are JSON numbers; Timestamps are RFC
// 3339 in UTC; maps of strings are objects. Written: fields that hold their default (0, "", false,
// empty, unset) are left out, but for int64, bool and the list that a listing is about (field 1),
// which are always there. Read: an unknown field, a field twice and a value of the wrong kind are
// faults named by their path ("annotations[0].entry"); null is "not given".
//
// Two kinds of messages are special in JSON. One whose only field is a list called `values` is, as
// a field, that array: a list that can be absent. One that has a list of texts called `clear` is a
// merge patch (RFC 7396): `clear` is no field of the JSON form but holds the names of those that
// are null, for entries of a map as "attributes.NAME".

#include <callsign/base/time.hpp>

#include <cstdint>
#include <google/protobuf/message.h>
#include <google/protobuf/timestamp.pb.h>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::wire {

enum class format : std::uint8_t { json, protobuf };

struct field_fault {
    std::string field;   // a path; empty: the body as a whole
    std::string code;    // unknown-field, duplicate-field, wrong-type, invalid, required, too-long,
                         // malformed ...
    std::string detail;  // a sentence

    friend bool operator==(const field_fault&, const field_fault&) = default;
};
using faults = std::vector<field_fault>;

// A client's own name for something, cut to a length that fits in an answer.
std::string_view shortened(std::string_view name) noexcept;

// Of one map. What a message means may allow fewer; no more than this are ever kept.
inline constexpr std::size_t map_entries_max = 10'000;

// Fields and elements of one body, at whatever depth. Each takes time and memory however few bytes
// it has, so more are not read: it would hold up everybody.
inline constexpr std::size_t values_max = 50'000;

// A body with more than this is not worth reading on.
constexpr std::size_t faults_max = 100;

// Fills `out`; every fault is appended to `found`, as long as those are fewer than `most`: with so
// many, some of the body was not read. True if there was none. A body of more than `values` is
// refused as a whole.
bool decode(format from, std::string_view bytes, google::protobuf::Message& out, faults& found,
            std::size_t most = faults_max, std::size_t values = values_max);

std::string encode(format to, const google::protobuf::Message& message);

void set_timestamp(google::protobuf::Timestamp& out, time_point at);
// What is finer than a millisecond is cut off; of what decode() refuses, the first instant or last.
time_point to_time_point(const google::protobuf::Timestamp& at);

// "application/json" or "application/x-protobuf" (or "application/protobuf"), for Content-Type.
std::string_view media_type(format f) noexcept;

}  // namespace callsign::wire
