#pragma once
// What is done to the file before the store opens it: it is created, or an older one is brought up
// to date, while nobody else has it open.

#include "connection.hpp"

#include <callsign/store/sqlite.hpp>

#include <filesystem>

namespace callsign::sqlite {

// Makes the data directory, its owner's alone. The path of the store's file in it. Throws
// std::runtime_error, with a sentence for people: it cannot be made, or anybody can write to it.
std::filesystem::path prepare_directory(const std::filesystem::path& dir);

// WAL, the sums of its pages, the schema. Throws as opening the store does.
void prepare_file(const std::filesystem::path& file, const sqlite_options& options);

// Moves the log into the database as closing the file would, where nobody learns of a sync that
// failed. What there is no room for stays in the log. Throws store_failure after such a sync: the
// log stays.
void move_log(connection& db, const std::filesystem::path& file);

}  // namespace callsign::sqlite
