#pragma once
// Backups on a disk (domain/backup.hpp), as directories. Any thread. Each function blocks as long
// as the disk does, and throws std::runtime_error with a sentence for the operator if it fails.

#include <callsign/domain/backup.hpp>

#include <filesystem>
#include <functional>
#include <vector>

namespace callsign {

struct backup_files {
    // Creates the directory, which must not exist or be empty. Returns the file for the copy.
    std::function<std::filesystem::path(const std::filesystem::path& dir)> begin;
    // Completes the backup. Requires: the copy is complete.
    std::function<backup_manifest(const std::filesystem::path& dir, time_point made_at)> finish;
    // Removes a backup, complete or not.
    std::function<void(const std::filesystem::path& dir)> discard;
    // Returns the complete backups in a directory that backup_name() has named, oldest first.
    std::function<std::vector<std::filesystem::path>(const std::filesystem::path& parent)> list;
    // Returns the manifest of a complete backup.
    std::function<backup_manifest(const std::filesystem::path& dir)> read;
};

}  // namespace callsign
