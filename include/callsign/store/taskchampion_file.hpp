#pragma once
// Opens the data file of the reference server: one SQLite database.

#include <callsign/ports/taskchampion_file.hpp>

#include <filesystem>
#include <memory>

namespace callsign {

// Throws std::runtime_error, with a sentence for people: it is not there, not a database, or not of
// that server.
std::unique_ptr<taskchampion_file> open_taskchampion_file(const std::filesystem::path& file);

}  // namespace callsign
