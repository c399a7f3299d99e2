#pragma once
// The master key that secrets at rest are sealed under, as an operator keeps it: a file that only
// its owner may read, with 64 hexadecimal digits on its first line. Lines after it are former keys:
// they open what was sealed under them, and seal nothing more. Whoever loses the key loses the
// devices' keys, and adds the devices again; tasks and numbers do not depend on it.

#include <callsign/seal/key_ring.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace callsign::seal {

enum class master_key_error : std::uint8_t {
    unreadable,   // there is no such file, or it can't be read
    not_a_file,   // a directory, a pipe, a device
    open_to_all,  // its group or others may read or write it
    malformed,    // not 64 hexadecimal digits a line, or the same ones twice
    too_many,     // former keys
    exists,       // on writing: there is one already, and it is not overwritten
    not_written,  // on writing: the disk said no
};

// A sentence.
std::string_view to_string(master_key_error error) noexcept;

using master_key = std::variant<key_ring, master_key_error>;

// 64 hexadecimal digits a key, either case, with a line end or a blank between two; one line end
// after the last is let pass.
master_key parse_master_key(std::string_view text);

master_key read_master_key(const std::filesystem::path& file);

// Makes the file, for its owner alone, out of 32 unpredictable bytes, and returns once it is on
// disk. Never overwrites.
std::optional<master_key_error> make_master_key(const std::filesystem::path& file,
                                                std::span<const std::uint8_t, key_bytes> random);

// Puts a new key before those that the file has. It is the old file or the new one, whatever
// happens, and belongs to whom it belonged.
std::optional<master_key_error> rotate_master_key(const std::filesystem::path& file,
                                                  std::span<const std::uint8_t, key_bytes> random);

// Leaves the first key alone in the file; as rotate_master_key().
std::optional<master_key_error> drop_former_keys(const std::filesystem::path& file);

}  // namespace callsign::seal
