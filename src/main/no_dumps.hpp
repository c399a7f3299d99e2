#pragma once
// Keeps the process's secrets out of core dumps and from other processes of the user.

#include <sys/prctl.h>

namespace callsign {

inline void keep_out_of_dumps() noexcept {
    ::prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace callsign
