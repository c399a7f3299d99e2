#pragma once
// History segments and snapshots as TaskChampion's clients send and store them: the content
// (wire/segment.hpp) encrypted with the key of a client ID (seal/envelope.hpp). Pure.

#include <callsign/base/uuid.hpp>
#include <callsign/seal/secret.hpp>
#include <callsign/wire/segment.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace callsign::wire {

// Up to this size, envelopes may be opened and sealed on the network thread.
inline constexpr std::size_t open_at_once_bytes_max = std::size_t{32} * 1024;

// Why an envelope cannot be opened or its content not be parsed.
struct unreadable {
    // It was encrypted with another key or for another version, or is corrupt.
    bool wrong_key = false;
    std::string detail;  // a sentence, or "the segment cannot be parsed: ..."
};

using opened_segment = std::variant<std::vector<operation>, unreadable>;
using opened_snapshot = std::variant<task_map, unreadable>;

// `parent`: of the version with that segment.
opened_segment open_segment(const seal::key& key, const uuid& parent, std::string_view envelope,
                            const segment_limits& limits = {});

opened_snapshot open_snapshot(const seal::key& key, const uuid& version, std::string_view envelope,
                              const snapshot_limits& limits = {});

}  // namespace callsign::wire
