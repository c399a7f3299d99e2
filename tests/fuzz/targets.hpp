#pragma once
// Invariants for any input. Driven by fuzz_test.cpp in CTest, limited and deterministic, and by
// libFuzzer (scripts/fuzz).

#include "support/hex.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/domain/slot.hpp>
#include <callsign/seal/envelope.hpp>
#include <callsign/wire/convert.hpp>
#include <callsign/wire/segment.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>
#include <zlib.h>

namespace callsign::testing {

// A segment is rejected with a reason, or read, written and read again with the same result.
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

// The JSON of a snapshot, compressed here: the zlib checksum would reject most mutations.
inline bool fuzz_snapshot_json(std::string_view bytes) {
    uLongf size = compressBound(bytes.size());
    std::string packed(size, '\0');
    CALLSIGN_ASSERT(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                             reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
    packed.resize(size);
    return fuzz_snapshot(packed);
}

// ---- envelopes ----

// The key of the real client in tests/wire/vectors.
inline seal::key fuzz_key() {
    const std::string bytes =
        from_hex("ba4b99988bb02082905054d9504e476bd03799d60b1256056d3951f7227d42aa");
    std::array<std::uint8_t, seal::key_bytes> all{};
    std::copy(bytes.begin(), bytes.end(), all.begin());
    return seal::key(all);
}

// A version id, and an envelope for it: the server's path from an envelope to operations. An
// envelope that decrypts is the same when it is encrypted again.
inline bool fuzz_envelope(std::string_view bytes) {
    static const seal::key key = fuzz_key();
    uuid parent{};
    const std::size_t id_bytes = std::min(bytes.size(), parent.size());
    std::copy_n(bytes.begin(), id_bytes, parent.begin());
    const std::string_view sealed = bytes.substr(id_bytes);
    const auto opened = seal::open_body(key, parent, sealed);
    if (const auto* error = std::get_if<seal::open_error>(&opened)) {
        CALLSIGN_ASSERT(!to_string(*error).empty());
        return false;
    }
    const auto& plaintext = std::get<std::string>(opened);
    std::array<std::uint8_t, seal::nonce_bytes> nonce{};
    std::copy_n(sealed.begin() + 1, nonce.size(), nonce.begin());
    CALLSIGN_ASSERT(seal::seal_body(key, parent, nonce, plaintext) == sealed);
    fuzz_segment(plaintext);
    return true;
}

// The error for an envelope that was altered after encryption.
inline seal::open_error fault_of(std::string_view changed) {
    if (changed.size() <= 1 + seal::nonce_bytes) return seal::open_error::too_small;
    if (changed.front() != 0x01) return seal::open_error::wrong_version;
    return seal::open_error::does_not_open;
}

// Four bytes choose the alteration of an envelope (kind, position, size); the others are its
// plaintext. It decrypts unaltered, or not at all.
inline bool fuzz_sealed(std::string_view bytes) {
    std::array<std::uint8_t, 4> said{};
    const std::size_t said_bytes = std::min(bytes.size(), said.size());
    std::copy_n(bytes.begin(), said_bytes, said.begin());
    const std::string plaintext(bytes.substr(said_bytes));
    const seal::key key = fuzz_key();
    const uuid parent{{said[1], said[2]}};
    const std::array<std::uint8_t, seal::nonce_bytes> nonce{said[3]};
    const std::string sealed = seal::seal_body(key, parent, nonce, plaintext);

    const std::size_t at = (said[1] * 256u + said[2]) % sealed.size();
    const auto turned = [&](std::uint8_t byte) {
        return static_cast<std::uint8_t>(byte ^ (1 << said[3] % 8));
    };
    std::string body = sealed;
    uuid place = parent;
    auto key_bytes = std::array<std::uint8_t, seal::key_bytes>{};
    std::copy(key.bytes().begin(), key.bytes().end(), key_bytes.begin());
    switch (said[0] % 8) {
    case 0: body[at] = static_cast<char>(turned(static_cast<std::uint8_t>(body[at]))); break;
    case 1: body.resize(at); break;
    case 2: body.append(said[3] + 1u, static_cast<char>(said[2])); break;
    case 3: body.insert(at, said[3] + 1u, static_cast<char>(said[2])); break;
    case 4: body.erase(at, said[3] + 1u); break;
    case 5: place.data[at % place.size()] = turned(place.data[at % place.size()]); break;
    case 6: key_bytes[at % key_bytes.size()] = turned(key_bytes[at % key_bytes.size()]); break;
    default: break;
    }
    const seal::key other(key_bytes);
    const auto opened = seal::open_body(other, place, body);
    if (body == sealed && place == parent && other == key) {
        CALLSIGN_ASSERT(std::get<std::string>(opened) == plaintext);
        return fuzz_segment(plaintext);
    }
    CALLSIGN_ASSERT(std::get<seal::open_error>(opened) == fault_of(body));
    return false;
}

// ---- Idempotency-Key ----

// The values of the field, one per line. They are rejected with a reason, or yield a key equal to
// the value, bare or quoted.
inline bool fuzz_idempotency_key(std::string_view bytes) {
    std::vector<std::string_view> values;
    for (bool more = true; more;) {
        const auto end = bytes.find('\n');
        values.push_back(bytes.substr(0, end));
        more = end != bytes.npos;
        if (more) bytes.remove_prefix(end + 1);
    }
    const auto read = wire::parse_idempotency_key(values);
    if (const auto* fault = std::get_if<wire::key_malformed>(&read)) {
        CALLSIGN_ASSERT(!fault->detail.empty() && fault->detail.size() < 1000);
        return false;
    }
    const auto& key = std::get<std::string>(read);
    CALLSIGN_ASSERT(values.size() == 1 && is_valid_idempotency_key(key));
    std::string quoted = "\"";
    for (const char c : key) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    quoted += '"';
    std::string_view sent = values.front();
    sent.remove_prefix(sent.find_first_not_of(" \t"));
    sent = sent.substr(0, sent.find_last_not_of(" \t") + 1);
    CALLSIGN_ASSERT(sent.front() == '"' ? sent.starts_with(quoted) : sent == key);
    quoted += ";p;q=1.5";
    CALLSIGN_ASSERT(std::get<std::string>(wire::parse_idempotency_key({quoted})) == key);
    return true;
}

}  // namespace callsign::testing
