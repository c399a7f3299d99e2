#pragma once
// Error texts for a file that could not be opened, read or written, with advice.

#include <filesystem>
#include <string>

namespace callsign {

// Whether the file is to exist or is to be created.
enum class file_use { reading, making };

// Returns text such as "Permission denied: /data belongs to callsign: run it as that user (sudo -u
// callsign ...)". `error` is the errno of the failed operation; the advice depends on the present
// state of the file system.
std::string describe_file_error(const std::filesystem::path& file, int error,
                                file_use use = file_use::reading);

// Returns the user's name, or its number if it has no name.
std::string user_name(unsigned user_id);

}  // namespace callsign
