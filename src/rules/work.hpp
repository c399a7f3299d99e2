#pragma once
// What a command costs the writer, in bytes: those it reads and writes, and as many more as it
// could in the time that a row or an operation takes by itself. Measured with bench/heavy; it is
// meant to be right to a factor of two, so that a step stays about 20 ms on a small machine.

#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>

#include <cstddef>

namespace callsign::rules {

inline constexpr std::size_t work_of_task = 1024;      // its row found, read and written
inline constexpr std::size_t work_of_operation = 128;  // one of a version's
inline constexpr std::size_t work_of_attribute = 32;   // one of a row's

inline std::size_t work_of(const operation& o) noexcept {
    return work_of_operation + o.property.size() + (o.value ? o.value->size() : 0);
}

inline std::size_t work_of(const attributes& all) noexcept {
    std::size_t work = work_of_attribute * all.size();
    for (const auto& [name, value] : all) work += name.size() + value.size();
    return work;
}

}  // namespace callsign::rules
