#pragma once
// What a command costs the writer, in bytes: those it reads and writes, and as many more as it
// could in the time that a row or an operation takes by itself. Measured with bench/heavy; it is
// meant to be right to a factor of two, so that a step stays about 20 ms on a small machine.

#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace callsign {

// How much of something large one command does; the rest is another command's, and others' go
// between.
inline constexpr std::size_t step_work_max = std::size_t{1} << 20;

inline constexpr std::size_t work_of_task = 1024;      // its row found, read and written
inline constexpr std::size_t work_of_operation = 128;  // one of a version's
inline constexpr std::size_t work_of_attribute = 32;   // one of a row's

inline std::size_t work_of(const operation& o) noexcept {
    return work_of_operation + o.property.size() + (o.value ? o.value->size() : 0);
}

inline std::size_t work_of(std::span<const operation> all) noexcept {
    std::size_t work = 0;
    for (const operation& o : all) work += work_of(o);
    return work;
}

inline std::size_t work_of(const attributes& all) noexcept {
    return work_of_attribute * all.size() + size_of(all);
}

// Its row, and what it says.
inline std::size_t work_of(const version& v) noexcept {
    return work_of_task + work_of(v.operations);
}

// How many operations, from the first, are within `work_max`; `look_at(n)` says what the task of
// the n-th costs. One at least, if there is one. Better up to the last that begins with another
// task: when the rest comes, its tasks are such as the server's own version behind this one, with
// the keys, is not about.
template <class Look>
std::size_t operations_within(std::size_t work_max, std::span<const operation> all, Look look_at) {
    std::size_t work = 0;
    std::size_t whole_tasks = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
        if (n > 0 && all[n].uuid != all[n - 1].uuid) whole_tasks = n;
        // However large the first one's task is, it is read and written for one operation as for
        // many: there is room for more of them.
        const std::size_t looked = look_at(n);
        work += work_of(all[n]) + (n == 0 ? std::min(looked, work_max / 2) : looked);
        if (work > work_max && n > 0) return whole_tasks > 0 ? whole_tasks : n;
    }
    return all.size();
}

// How many of a device's operations, from the first, one add_version is handed: what it takes if
// nothing is known of their tasks.
inline std::size_t step_of(std::span<const operation> all) {
    return operations_within(step_work_max, all, [&](std::size_t n) {
        return n > 0 && all[n].uuid == all[n - 1].uuid ? 0 : work_of_task;
    });
}

}  // namespace callsign
