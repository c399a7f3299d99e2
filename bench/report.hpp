#pragma once
// The output of a run, shared by the load generators.

#include "runner.hpp"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <sys/resource.h>

namespace callsign::bench {

inline double in_ms(nanoseconds span) {
    return std::chrono::duration<double, std::milli>(span).count();
}

// CPU time of this process so far.
inline double cpu_us() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto us = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
    };
    return us(used.ru_utime) + us(used.ru_stime);
}

struct measured {
    tally counts;
    double cpu_us_each = 0;  // of the generator, per request sent
};

inline measured measure(runner& r) {
    const double before = cpu_us();
    measured m;
    m.counts = r.run();
    m.cpu_us_each =
        (cpu_us() - before) / static_cast<double>(std::max<std::uint64_t>(m.counts.sent, 1));
    return m;
}

// Prints members of a JSON object, without its closing brace.
inline void print_json_counts(const measured& m) {
    const tally& t = m.counts;
    std::printf("\"elapsedSeconds\":%.3f,\"answers\":%llu,\"perSecond\":%.1f,",
                std::chrono::duration<double>(t.elapsed).count(),
                static_cast<unsigned long long>(t.latency.total()), t.per_second());
    std::printf(
        "\"latencyMs\":{\"mean\":%.3f,\"p50\":%.3f,\"p99\":%.3f,\"p999\":%.3f,\"max\":%.3f},",
        in_ms(t.latency.mean()), in_ms(t.latency.quantile(0.5)), in_ms(t.latency.quantile(0.99)),
        in_ms(t.latency.quantile(0.999)), in_ms(t.latency.max()));
    std::printf("\"statuses\":{");
    const char* comma = "";
    for (std::size_t status = 0; status < t.by_status.size(); ++status) {
        if (t.by_status[status] == 0) continue;
        std::printf("%s\"%zu\":%llu", comma, status,
                    static_cast<unsigned long long>(t.by_status[status]));
        comma = ",";
    }
    std::printf("},\"replays\":%llu,\"unsent\":%llu,\"faults\":{",
                static_cast<unsigned long long>(t.replays),
                static_cast<unsigned long long>(t.unsent));
    comma = "";
    for (const auto& [what, count] : t.faults) {
        std::printf("%s\"%s\":%llu", comma, what.c_str(), static_cast<unsigned long long>(count));
        comma = ",";
    }
    std::printf("},\"generatorCpuUsPerRequest\":%.2f}\n", m.cpu_us_each);
}

inline void print_text_counts(const measured& m, std::string_view what) {
    const tally& t = m.counts;
    std::printf("  %.0f %s/s   p50 %.3f ms   p99 %.3f ms   p99.9 %.3f ms   max %.3f ms\n",
                t.per_second(), std::string(what).c_str(), in_ms(t.latency.quantile(0.5)),
                in_ms(t.latency.quantile(0.99)), in_ms(t.latency.quantile(0.999)),
                in_ms(t.latency.max()));
    std::printf("  answers:");
    for (std::size_t status = 0; status < t.by_status.size(); ++status)
        if (t.by_status[status] != 0)
            std::printf(" %zu: %llu", status, static_cast<unsigned long long>(t.by_status[status]));
    if (t.replays != 0) std::printf("   replays: %llu", static_cast<unsigned long long>(t.replays));
    std::printf("   generator: %.1f us of CPU each\n", m.cpu_us_each);
}

inline void print_faults(const tally& t) {
    for (const auto& [what, count] : t.faults)
        std::cerr << "fault: " << what << ", " << count << " times\n";
    if (t.unsent != 0) std::cerr << "error: " << t.unsent << " due requests were not sent\n";
    if (!t.first_fault.empty()) std::cerr << "first error: " << t.first_fault << "\n";
}

}  // namespace callsign::bench
