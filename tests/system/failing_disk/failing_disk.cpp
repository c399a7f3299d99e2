// Preloaded into a server under test: from the moment the file named by CALLSIGN_FAIL_SYNC exists,
// every fsync and fdatasync fails as on a dying disk.

#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace {

bool failing() {
    const char* file = std::getenv("CALLSIGN_FAIL_SYNC");
    return file != nullptr && ::access(file, F_OK) == 0;
}

int sync_by(const char* name, int descriptor) {
    if (failing()) {
        errno = EIO;
        return -1;
    }
    return reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, name))(descriptor);
}

}  // namespace

extern "C" int fsync(int descriptor) {
    return sync_by("fsync", descriptor);
}

extern "C" int fdatasync(int descriptor) {
    return sync_by("fdatasync", descriptor);
}
