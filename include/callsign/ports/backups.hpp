#pragma once
// Backups on a disk (domain/backup.hpp), as directories. Any thread; each takes as long as the disk
// does, and throws std::runtime_error with a sentence for people if it cannot do it.

#include <callsign/domain/backup.hpp>

#include <filesystem>
#include <functional>
#include <vector>

namespace callsign {

struct backup_files {
    // Makes the directory, which must not be there or be empty. The file to copy the store to.
    std::function<std::filesystem::path(const std::filesystem::path& dir)> begin;
    // The copy is whole.
    std::function<backup_manifest(const std::filesystem::path& dir, time_point made_at)> finish;
    // One that was begun, or is not needed any more.
    std::function<void(const std::filesystem::path& dir)> discard;
    // Those that are whole, in a directory of backups that were named by backup_name(), the oldest
    // first.
    std::function<std::vector<std::filesystem::path>(const std::filesystem::path& parent)> list;
    // What one that is whole says of itself.
    std::function<backup_manifest(const std::filesystem::path& dir)> read;
};

}  // namespace callsign
