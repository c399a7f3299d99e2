#pragma once
// What must hold of any bytes whatever. Driven by fuzz_test.cpp in CTest, bounded and the same each
// time, and by libFuzzer (scripts/fuzz).

#include <callsign/base/assert.hpp>
#include <callsign/wire/segment.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>
#include <zlib.h>

namespace callsign::testing {

// Refused with a reason, or read, and then what is written of it reads the same.
inline bool fuzz_segment(std::string_view bytes) {
    const wire::segment_limits limits{.bytes_max = 1 << 20, .operations_max = 10'000};
    const auto read = wire::decode_segment(bytes, limits);
    if (const auto* fault = std::get_if<wire::malformed>(&read)) {
        CALLSIGN_ASSERT(!fault->detail.empty() && fault->detail.size() < 1000);
        return false;
    }
    const auto& operations = std::get<std::vector<operation>>(read);
    const std::string written = wire::encode_segment(operations);
    CALLSIGN_ASSERT(wire::decode_segment(written) == read);
    return true;
}

inline bool fuzz_snapshot(std::string_view bytes) {
    const wire::snapshot_limits limits{
        .packed_bytes_max = 1 << 20, .bytes_max = 1 << 22, .tasks_max = 10'000};
    const auto read = wire::decode_snapshot(bytes, limits);
    if (const auto* fault = std::get_if<wire::malformed>(&read)) {
        CALLSIGN_ASSERT(!fault->detail.empty() && fault->detail.size() < 1000);
        return false;
    }
    const auto& tasks = std::get<task_map>(read);
    CALLSIGN_ASSERT(wire::decode_snapshot(wire::encode_snapshot(tasks)) == read);
    return true;
}

// The JSON of a snapshot, packed here: a checksum keeps most damage away from what is inside.
inline bool fuzz_snapshot_json(std::string_view bytes) {
    uLongf size = compressBound(bytes.size());
    std::string packed(size, '\0');
    CALLSIGN_ASSERT(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                             reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
    packed.resize(size);
    return fuzz_snapshot(packed);
}

}  // namespace callsign::testing
