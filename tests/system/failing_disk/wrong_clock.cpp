// Preloaded into a server under test: its wall clock is off by CALLSIGN_CLOCK_OFF seconds.

#include <cstdlib>
#include <ctime>
#include <dlfcn.h>

extern "C" int clock_gettime(clockid_t clock, timespec* now) {
    static auto* const real =
        reinterpret_cast<int (*)(clockid_t, timespec*)>(::dlsym(RTLD_NEXT, "clock_gettime"));
    const int result = real(clock, now);
    static const char* const off = std::getenv("CALLSIGN_CLOCK_OFF");
    if (result == 0 && clock == CLOCK_REALTIME && off != nullptr) now->tv_sec += std::atol(off);
    return result;
}
