#pragma once
// Secrets of the living process are not for its core dumps, nor for other processes of the user.

#include <sys/prctl.h>

namespace callsign {

inline void keep_out_of_dumps() noexcept {
    ::prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace callsign
