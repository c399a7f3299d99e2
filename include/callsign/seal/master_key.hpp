#pragma once
// The master key, with which secrets at rest are encrypted, as an operator keeps it: a file that
// only its owner may read, with 64 hexadecimal digits on the first line. Further lines are former
// keys, which decrypt and no longer encrypt. If the master key is lost, so are the devices' keys,
// and the devices must be added again; tasks and numbers do not depend on it.

#include <callsign/seal/key_ring.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace callsign::seal {

enum class master_key_error : std::uint8_t {
    unreadable,   // the file does not exist or cannot be read
    not_a_file,   // a directory, a pipe, a device
    open_to_all,  // its group or others have access to it
    malformed,    // not 64 hexadecimal digits on each line, or a repeated key
    too_many,     // former keys
    exists,       // when writing: the file exists, and is not overwritten
    not_written,  // when writing: an error of the disk
};

// Returns a sentence.
std::string_view to_string(master_key_error error) noexcept;

using master_key = std::variant<key_ring, master_key_error>;

// Parses keys of 64 hexadecimal digits, in either case, separated by a line end or a space; one
// line end after the last key is ignored.
master_key parse_master_key(std::string_view text);

master_key read_master_key(const std::filesystem::path& file);

// Creates and syncs the file, for its owner alone, from 32 unpredictable bytes. Never overwrites.
std::optional<master_key_error> make_master_key(const std::filesystem::path& file,
                                                std::span<const std::uint8_t, key_bytes> random);

// Adds a new key before those in the file, which is replaced atomically; owner and group stay.
std::optional<master_key_error> rotate_master_key(const std::filesystem::path& file,
                                                  std::span<const std::uint8_t, key_bytes> random);

// Removes all keys but the first from the file, replacing it as rotate_master_key() does.
std::optional<master_key_error> drop_former_keys(const std::filesystem::path& file);

}  // namespace callsign::seal
