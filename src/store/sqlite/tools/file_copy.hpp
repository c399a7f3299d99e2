#pragma once
// The database, copied page by page through the connection that writes it (SQLite's online backup):
// what that changes meanwhile is changed in the copy, so nothing is begun again, and the log is not
// held up as by a reader.

#include "connection.hpp"

#include <memory>

namespace callsign::sqlite {

// `from` is the writer's connection, and outlives it. Throws store_failure.
std::unique_ptr<store_copy> begin_copy(connection& from, const std::filesystem::path& to);

}  // namespace callsign::sqlite
