#include <callsign/base/describe_file_error.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace callsign {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) {
    return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

std::string missing(const fs::path& file, file_use use) {
    std::error_code unknown;
    const fs::path folder = folder_of(file);
    if (fs::is_directory(folder, unknown)) return "No such file";
    if (use == file_use::making) return "No such directory: mkdir -p " + folder.string();
    return "No such file: missing directory " + folder.string();
}

// Returns the first directory on the path, from the root down, that this user may not enter; if
// there is none, the file, or its directory if the file does not exist.
fs::path closed_place(const fs::path& file) {
    std::error_code unknown;
    fs::path reached;
    const fs::path whole = fs::absolute(file, unknown).lexically_normal();
    for (const fs::path& part : whole) {
        reached /= part;
        const bool is_folder = fs::is_directory(reached, unknown);
        if (is_folder && ::access(reached.c_str(), X_OK) != 0) return reached;
    }
    return fs::exists(whole, unknown) ? whole : folder_of(whole);
}

std::string denied(const fs::path& file) {
    const fs::path closed = closed_place(file);
    struct stat status {};
    if (::stat(closed.c_str(), &status) != 0) return "Permission denied";
    const std::string owner = user_name(status.st_uid);
    if (status.st_uid == ::geteuid()) {
        return "Permission denied: " + closed.string() +
               " is not accessible to its owner: chmod u+rwX " + closed.string();
    }
    return "Permission denied: " + closed.string() + " belongs to " + owner +
           ": run it as that user (sudo -u " + owner + " ...)";
}

}  // namespace

std::string user_name(unsigned user_id) {
    std::array<char, 4096> text{};
    passwd entry{};
    passwd* found = nullptr;
    const int error = ::getpwuid_r(user_id, &entry, text.data(), text.size(), &found);
    return error == 0 && found ? found->pw_name : std::to_string(user_id);
}

std::string describe_file_error(const fs::path& file, int error, file_use use) {
    switch (error) {
    case ENOENT: return missing(file, use);
    case EACCES:
    case EPERM: return denied(file);
    case ENOTDIR: return "Not a directory: a component of the path is a file";
    case EISDIR: return "Is a directory: specify a file";
    case ENOSPC:
        return "No space left: free space on the file system (df -h " + folder_of(file).string() +
               ")";
    case EROFS: return "Read-only file system: remount it writable";
    case EMFILE:
    case ENFILE: return "Too many open files: raise the limit (ulimit -n)";
    default: return std::generic_category().message(error);
    }
}

}  // namespace callsign
