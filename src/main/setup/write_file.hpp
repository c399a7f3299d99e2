#pragma once
// Small files that appear as a whole or not at all.

#include <filesystem>
#include <string_view>

namespace callsign::setup {

// Creates or replaces a small file in one step, durably, with the permissions `mode`. Throws
// std::system_error.
void write_file(const std::filesystem::path& file, std::string_view text, unsigned mode);

}  // namespace callsign::setup
