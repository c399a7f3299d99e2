#pragma once
// Opens the data file of the reference server, an SQLite database.

#include <callsign/ports/taskchampion_file.hpp>

#include <filesystem>
#include <memory>

namespace callsign {

// Throws std::runtime_error with a message for the operator: the file does not exist, is not a
// database, or is not of that server.
std::unique_ptr<taskchampion_file> open_taskchampion_file(const std::filesystem::path& file);

}  // namespace callsign
