#pragma once
// Output files of commands.

#include <filesystem>
#include <string_view>

namespace callsign::cli {

// Writes the file atomically: a reader finds the old or the new one, even after a crash. Throws
// failure.
void write_output(const std::filesystem::path& file, std::string_view text,
                  std::filesystem::perms mode);

}  // namespace callsign::cli
