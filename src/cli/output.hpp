#pragma once
// What a command writes to a file of its own.

#include <filesystem>
#include <string_view>

namespace callsign::cli {

// All of it or nothing: whoever reads the file meanwhile, or after a crash, finds the old one or
// the new one. Throws failure.
void write_output(const std::filesystem::path& file, std::string_view text,
                  std::filesystem::perms mode);

}  // namespace callsign::cli
