#pragma once
// What a start finds of an earlier process's log is written again before it is believed. When a
// sync failed, the kernel calls the pages that it could not write clean: they can be read until
// they are evicted or the power goes, and no later sync writes them (fsync(2), Linux; the same
// on ext4, XFS and btrfs).

#include <filesystem>

namespace callsign::sqlite {

// Writes the frames of the WAL of `file`, and the pages of the database that they name, in place
// and as they are, and syncs both. A reader in another process notices nothing. For who holds the
// directory's lock, before the file is opened. Throws store_failure.
void rewrite_log(const std::filesystem::path& file);

}  // namespace callsign::sqlite
