#pragma once
// Stored statistics of how long clients take to retry.

#include <callsign/domain/retry_times.hpp>
#include <callsign/ports/store.hpp>

#include <optional>

namespace callsign::retry_records {

// None: nothing is stored.
std::optional<retry_record> find(read_tx& tx, account_class accounts);
// Replaces what is stored. Requires: is_sound(record).
void put(write_tx& tx, account_class accounts, const retry_record& record);

}  // namespace callsign::retry_records
