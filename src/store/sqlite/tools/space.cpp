#include <callsign/store/sqlite.hpp>

#include <sys/statvfs.h>
#include <system_error>

namespace callsign {
namespace {

std::uintmax_t bytes_of(const std::filesystem::path& file) noexcept {
    std::error_code missing;
    const std::uintmax_t bytes = std::filesystem::file_size(file, missing);
    return missing ? 0 : bytes;
}

}  // namespace

sqlite_space space_of(const std::filesystem::path& data_dir) noexcept {
    const std::filesystem::path file = data_dir / "callsign.sqlite3";
    sqlite_space space{.database_bytes = bytes_of(file),
                       .log_bytes = bytes_of(file.string() + "-wal")};
    struct statvfs disk {};
    if (::statvfs(data_dir.c_str(), &disk) == 0) {
        space.free_bytes = std::uintmax_t{disk.f_bavail} * disk.f_frsize;
        space.disk_bytes = std::uintmax_t{disk.f_blocks} * disk.f_frsize;
    }
    return space;
}

}  // namespace callsign
