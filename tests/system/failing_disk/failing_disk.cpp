// Preloaded into a server under test, and controlled by files that environment variables name.
// While CALLSIGN_FAIL_SYNC's file exists, every fsync and fdatasync fails, as on a failing disk.
// CALLSIGN_FAIL_ONE_SYNC's file contains a pattern of paths and optionally a number of syncs to
// pass: the next sync of a matching file fails, and the file is removed. CALLSIGN_FAIL_ONE_READ is
// the same for reads. While CALLSIGN_DISK_FULL's file exists, files grow only into space that other
// files release.

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace {

bool is_on(const char* name) {
    const char* file = std::getenv(name);
    return file != nullptr && ::access(file, F_OK) == 0;
}

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// Returns whether this is the one call that fails. `passed`: matching calls so far in this process.
bool fails_once(const char* name, int descriptor, std::atomic<int>& passed) {
    if (!is_on(name)) return false;
    std::string pattern;
    int passing = 0;
    std::ifstream(std::getenv(name)) >> pattern >> passing;
    char path[4096] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    if (::readlink(link.c_str(), path, sizeof path - 1) < 0) return false;
    if (::fnmatch(pattern.c_str(), path, 0) != 0 || passed++ < passing) return false;
    passed = 0;
    return real<int(const char*)>("unlink")(std::getenv(name)) == 0;
}

int sync_by(const char* name, int descriptor) {
    static std::atomic<int> passed{0};
    if (is_on("CALLSIGN_FAIL_SYNC") || fails_once("CALLSIGN_FAIL_ONE_SYNC", descriptor, passed)) {
        errno = EIO;
        return -1;
    }
    return real<int(int)>(name)(descriptor);
}

ssize_t read_at(const char* name, int descriptor, void* to, size_t size, off64_t at) {
    static std::atomic<int> passed{0};
    if (fails_once("CALLSIGN_FAIL_ONE_READ", descriptor, passed)) {
        errno = EIO;
        return -1;
    }
    return real<ssize_t(int, void*, size_t, off64_t)>(name)(descriptor, to, size, at);
}

// The space that files have released on the full disk, stored in a file, so that the next process
// finds it.
std::atomic<off64_t>& map_room() {
    static std::atomic<off64_t> none{0};
    const char* file = std::getenv("CALLSIGN_DISK_FULL");
    if (file == nullptr) return none;
    const int descriptor = ::open((std::string(file) + ".room").c_str(), O_RDWR | O_CREAT, 0600);
    if (descriptor < 0 || real<int(int, off64_t)>("ftruncate64")(descriptor, sizeof none) != 0) {
        return none;
    }
    void* const mapped =
        ::mmap(nullptr, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    ::close(descriptor);
    return mapped == MAP_FAILED ? none : *static_cast<std::atomic<off64_t>*>(mapped);
}

std::atomic<off64_t>& room() {
    static std::atomic<off64_t>& mapped = map_room();
    return mapped;
}

off64_t size_of(const struct stat64& file) {
    return S_ISREG(file.st_mode) ? file.st_size : 0;
}

// Returns whether a file would have to grow to reach `end`, but cannot. The program's log is on
// another disk.
bool has_no_room(int descriptor, off64_t end) {
    struct stat64 file {};
    if (descriptor == STDERR_FILENO) return false;
    if (!is_on("CALLSIGN_DISK_FULL") || ::fstat64(descriptor, &file) != 0) return false;
    if (!S_ISREG(file.st_mode) || end <= file.st_size) return false;
    const off64_t more = end - file.st_size;
    if (room().fetch_sub(more) >= more) return false;
    room() += more;
    errno = ENOSPC;
    return true;
}

int truncate_by(const char* name, int descriptor, off64_t size) {
    struct stat64 file {};
    const bool known = is_on("CALLSIGN_DISK_FULL") && ::fstat64(descriptor, &file) == 0;
    const int done = real<int(int, off64_t)>(name)(descriptor, size);
    if (known && done == 0 && size < size_of(file)) room() += size_of(file) - size;
    return done;
}

ssize_t write_at(const char* name, int descriptor, const void* bytes, size_t size, off64_t at) {
    if (has_no_room(descriptor, at + static_cast<off64_t>(size))) return -1;
    return real<ssize_t(int, const void*, size_t, off64_t)>(name)(descriptor, bytes, size, at);
}

}  // namespace

extern "C" {

int fsync(int descriptor) {
    return sync_by("fsync", descriptor);
}

int fdatasync(int descriptor) {
    return sync_by("fdatasync", descriptor);
}

ssize_t pread(int descriptor, void* to, size_t size, off_t at) {
    return read_at("pread", descriptor, to, size, at);
}

ssize_t pread64(int descriptor, void* to, size_t size, off64_t at) {
    return read_at("pread64", descriptor, to, size, at);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t at) {
    return write_at("pwrite", descriptor, bytes, size, at);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t at) {
    return write_at("pwrite64", descriptor, bytes, size, at);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
    const off64_t at = ::lseek64(descriptor, 0, SEEK_CUR);
    if (at >= 0 && has_no_room(descriptor, at + static_cast<off64_t>(size))) return -1;
    return real<ssize_t(int, const void*, size_t)>("write")(descriptor, bytes, size);
}

int posix_fallocate(int descriptor, off_t at, off_t size) {
    if (has_no_room(descriptor, at + size)) return ENOSPC;
    return real<int(int, off_t, off_t)>("posix_fallocate")(descriptor, at, size);
}

int ftruncate(int descriptor, off_t size) {
    return truncate_by("ftruncate", descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) {
    return truncate_by("ftruncate64", descriptor, size);
}

int statvfs(const char* name, struct statvfs* disk) {
    const int done = real<int(const char*, struct statvfs*)>("statvfs")(name, disk);
    if (done == 0 && is_on("CALLSIGN_DISK_FULL")) disk->f_bavail = 0;
    return done;
}

int unlink(const char* name) {
    struct stat64 file {};
    const bool known = is_on("CALLSIGN_DISK_FULL") && ::stat64(name, &file) == 0;
    const int done = real<int(const char*)>("unlink")(name);
    if (known && done == 0) room() += size_of(file);
    return done;
}

int remove(const char* name) {
    struct stat64 file {};
    if (::lstat64(name, &file) == 0 && S_ISDIR(file.st_mode)) return ::rmdir(name);
    return ::unlink(name);
}

}  // extern "C"
