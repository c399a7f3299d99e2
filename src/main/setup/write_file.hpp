#pragma once
// Small files that appear whole, under their name, or not at all.

#include <filesystem>
#include <string_view>

namespace callsign::setup {

// Creates or replaces a small file in one step, durable, readable as `mode` says. Throws
// std::system_error.
void write_file(const std::filesystem::path& file, std::string_view text, unsigned mode);

}  // namespace callsign::setup
