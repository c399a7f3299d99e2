#pragma once
// Rewrites an earlier process's WAL at a start, before it is trusted. After a failed sync the
// kernel marks pages that it could not write as clean: they can be read until they are evicted or
// the power fails, and no later sync writes them (fsync(2), Linux; the same on ext4, XFS and
// btrfs).

#include <filesystem>

namespace callsign::sqlite {

// Rewrites the frames of the WAL of `file`, and the database pages that they name, in place and
// unchanged, and syncs both. Readers in other processes are not affected. Requires: the caller
// holds the directory's lock and has not opened the file. Throws store_failure.
void rewrite_log(const std::filesystem::path& file);

}  // namespace callsign::sqlite
