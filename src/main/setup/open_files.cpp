#include "open_files.hpp"

#include <sys/resource.h>

namespace callsign::setup {

// Files besides connections: the store's, and connections that are rejected as too many.
constexpr std::size_t other_files = 160;

std::size_t raise_open_files_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

std::size_t connections_possible(std::size_t files_max) {
    return files_max > 2 * other_files ? files_max - other_files : files_max / 2;
}

}  // namespace callsign::setup
