#pragma once
// The master key that secrets at rest are sealed under, as an operator keeps it: a file of 64
// hexadecimal digits that only its owner may read. Whoever loses it loses the devices' keys, and
// adds the devices again; tasks and numbers do not depend on it.

#include <callsign/seal/secret.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <variant>

namespace callsign::seal {

enum class master_key_error : std::uint8_t {
    unreadable,   // there is no such file, or it can't be read
    not_a_file,   // a directory, a pipe, a device
    open_to_all,  // its group or others may read or write it
    malformed,    // not 64 hexadecimal digits and at most one line end
    exists,       // on writing: there is one already, and it is not overwritten
    not_written,  // on writing: the disk said no
};

// A sentence.
std::string_view to_string(master_key_error error) noexcept;

using master_key = std::variant<key, master_key_error>;

// 64 hexadecimal digits, either case; one line end after them is let pass.
master_key parse_master_key(std::string_view text);

master_key read_master_key(const std::filesystem::path& file);

// Makes the file, for its owner alone, out of 32 unpredictable bytes, and returns the key once it
// is on disk. Never overwrites.
master_key make_master_key(const std::filesystem::path& file,
                           std::span<const std::uint8_t, key_bytes> random);

}  // namespace callsign::seal
