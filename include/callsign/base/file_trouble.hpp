#pragma once
// Why a file could not be opened, read or written, with what to do about it.

#include <filesystem>
#include <string>

namespace callsign {

// What the file was to be: one that is there, or one that is made.
enum class file_use { reading, making };

// "Permission denied: /data belongs to callsign: run it as that user (sudo -u callsign ...)". Of
// the error (an errno) that `file` was met with; what is there now says what to do.
std::string file_trouble(const std::filesystem::path& file, int error,
                         file_use use = file_use::reading);

// The name of a user, or its number where it has none.
std::string user_name(unsigned user_id);

}  // namespace callsign
