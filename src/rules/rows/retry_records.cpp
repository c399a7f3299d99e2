#include <callsign/base/assert.hpp>
#include <callsign/ports/tables/retry_times.hpp>
#include <callsign/rules/rows/retry_records.hpp>

namespace callsign::retry_records {

std::optional<retry_record> find(read_tx& tx, account_class accounts) {
    const auto found = tx.get<retry_times_by_class>(accounts);
    return found ? std::optional(found->record) : std::nullopt;
}

void put(write_tx& tx, account_class accounts, const retry_record& record) {
    CALLSIGN_ASSERT(is_sound(record));
    tx.put(tx.get<retry_times_by_class>(accounts), {accounts, record});
}

}  // namespace callsign::retry_records
