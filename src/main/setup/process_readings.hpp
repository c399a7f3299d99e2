#pragma once
// Readings of this process from the kernel.

#include <cstdint>

namespace callsign::setup {

// 0: unknown.
struct process_readings {
    double cpu_seconds = 0;
    std::int64_t resident_bytes = 0;
    std::int64_t virtual_bytes = 0;
    std::int64_t open_files = 0;
    std::int64_t open_files_max = 0;
    double start_time = 0;  // seconds since 1970
};

process_readings read_process();

}  // namespace callsign::setup
