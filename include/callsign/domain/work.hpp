#pragma once
// What a command costs the writer, in bytes: those it reads and writes, plus those it could read or
// write in the time that each row and operation takes. Measured with bench/heavy; intended to be
// right to a factor of two, so that a step takes about 20 ms on a small machine.

#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace callsign {

// The work of one command on something large; further commands do the rest, others' in between.
inline constexpr std::size_t step_work_max = std::size_t{1} << 20;

inline constexpr std::size_t work_of_task = 1024;      // to find, read and write the row
inline constexpr std::size_t work_of_operation = 128;  // for each operation of a version
inline constexpr std::size_t work_of_attribute = 32;   // for each attribute of a row

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

// The row and its operations.
inline std::size_t work_of(const version& v) noexcept {
    return work_of_task + work_of(v.operations);
}

// Returns how many operations, from the first, fit into `work_max`, but at least one if there is
// any; `look_at(n)` returns the cost of the task of the n-th. If possible the last one is followed
// by an operation on another task: then the tasks of the rest do not occur in the server's own
// version behind this one, which has the keys.
template <class Look>
std::size_t operations_within(std::size_t work_max, std::span<const operation> all, Look look_at) {
    std::size_t work = 0;
    std::size_t whole_tasks = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
        if (n > 0 && all[n].uuid != all[n - 1].uuid) whole_tasks = n;
        // The first task is read and written once, for one operation as for many, however large it
        // is: it leaves room for more of its operations.
        const std::size_t looked = look_at(n);
        work += work_of(all[n]) + (n == 0 ? std::min(looked, work_max / 2) : looked);
        if (work > work_max && n > 0) return whole_tasks > 0 ? whole_tasks : n;
    }
    return all.size();
}

// Returns how many of a device's operations, from the first, are passed to one add_version: as many
// as it applies if nothing is known of their tasks.
inline std::size_t step_of(std::span<const operation> all) {
    return operations_within(step_work_max, all, [&](std::size_t n) {
        return n > 0 && all[n].uuid == all[n - 1].uuid ? 0 : work_of_task;
    });
}

}  // namespace callsign
