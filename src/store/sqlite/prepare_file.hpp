#pragma once
// Prepares the file before the store opens it: creates it, or migrates an older one. Requires: the
// caller holds the directory's lock.

#include "connection.hpp"

#include <callsign/store/sqlite.hpp>

#include <filesystem>

namespace callsign::sqlite {

// Creates the data directory, for its owner only, if it does not exist. Returns the path of the
// store's file. Throws std::runtime_error with a message for the operator: the directory cannot be
// created, or is world-writable.
std::filesystem::path prepare_directory(const std::filesystem::path& dir);

// Sets up WAL mode, page checksums and the schema. Throws store_failure or another
// std::runtime_error.
void prepare_file(const std::filesystem::path& file, const sqlite_options& options);

// Checkpoints as closing the file would, which does not report a failed sync. Pages that the disk
// has no space for stay in the WAL. Throws store_failure if a sync failed; the WAL is kept.
void move_log(connection& db, const std::filesystem::path& file);

}  // namespace callsign::sqlite
