#include "process_readings.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

namespace callsign::setup {
namespace {

double seconds_of(const timeval& span) {
    return static_cast<double>(span.tv_sec) + static_cast<double>(span.tv_usec) / 1e6;
}

std::int64_t count_open_files() {
    std::error_code failed;
    std::int64_t count = 0;
    for (std::filesystem::directory_iterator at("/proc/self/fd", failed), end; at != end && !failed;
         at.increment(failed)) {
        ++count;
    }
    return count > 0 ? count - 1 : 0;  // without the one that reads this directory
}

// Returns the clock ticks from boot to the start of the process: field 22 of /proc/self/stat
// (proc(5)). Field 2, the name, may have blanks.
double start_ticks() {
    std::ifstream file("/proc/self/stat");
    std::string line;
    std::getline(file, line);
    std::size_t at = line.rfind(')');
    for (int field = 2; field < 22 && at != line.npos; ++field) at = line.find(' ', at + 1);
    return at == line.npos ? 0 : std::strtod(line.c_str() + at, nullptr);
}

double boot_time() {
    std::ifstream file("/proc/stat");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("btime ")) return std::strtod(line.c_str() + 6, nullptr);
    }
    return 0;
}

double find_start_time() {
    const double boot = boot_time();
    const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
    return boot > 0 ? boot + start_ticks() / ticks_per_second : 0;
}

}  // namespace

process_readings read_process() {
    static const double started = find_start_time();
    process_readings now{.open_files = count_open_files(), .start_time = started};
    rusage used{};
    if (::getrusage(RUSAGE_SELF, &used) == 0) {
        now.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    }
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
        now.open_files_max = static_cast<std::int64_t>(files.rlim_cur);
    }
    std::int64_t pages = 0, resident = 0;
    if (std::ifstream("/proc/self/statm") >> pages >> resident) {
        const std::int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
        now.virtual_bytes = pages * page_bytes;
        now.resident_bytes = resident * page_bytes;
    }
    return now;
}

}  // namespace callsign::setup
