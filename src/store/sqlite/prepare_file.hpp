#pragma once
// What is done to the file before the store opens it: it is created, or an older one is brought up
// to date, while nobody else has it open.

#include <callsign/store/sqlite.hpp>

#include <filesystem>

namespace callsign::sqlite {

// Makes the data directory. The path of the store's file in it.
std::filesystem::path prepare_directory(const sqlite_options& options);

// WAL, the sums of its pages, the schema. Throws as opening the store does.
void prepare_file(const std::filesystem::path& file, const sqlite_options& options);

}  // namespace callsign::sqlite
