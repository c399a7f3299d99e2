#pragma once
// Copies the database page by page through the writer's connection (SQLite's online backup): its
// changes are applied to the copy too, so the copy does not restart, and does not hold up the WAL
// as a reader would.

#include "connection.hpp"

#include <memory>

namespace callsign::sqlite {

// `from` is the writer's connection, and outlives it. Throws store_failure.
std::unique_ptr<store_copy> begin_copy(connection& from, const std::filesystem::path& to);

}  // namespace callsign::sqlite
