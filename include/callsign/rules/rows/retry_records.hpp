#pragma once
// How long clients took to retry, as it is kept.

#include <callsign/domain/retry_times.hpp>
#include <callsign/ports/store.hpp>

#include <optional>

namespace callsign::retry_records {

// None: nothing was kept yet.
std::optional<retry_record> find(read_tx& tx, account_class accounts);
// In place of what was kept before. Requires: it is sound.
void put(write_tx& tx, account_class accounts, const retry_record& record);

}  // namespace callsign::retry_records
