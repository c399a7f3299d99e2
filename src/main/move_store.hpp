#pragma once
// `callsign move`, `callsign restored`: work on a store of either kind that no server has open.

#include <callsign/ports/local_files.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <string>

namespace callsign {

// As local_files::move.
moved_store move_store(const store_place& from, const store_place& to, time_point now,
                       const findings::progress& progress);
// As local_files::check.
check_report check_store(const store_place& place, time_point now,
                         const findings::progress& progress);
// As local_files::mark_restored.
std::int64_t mark_database_restored(const std::string& url, time_point now);

// Marks a store as restored from a backup made then. Returns how many series are held.
std::int64_t mark_restored_in(store& restored, time_point made_at, time_point now);

}  // namespace callsign
