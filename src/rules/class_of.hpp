#pragma once
// Which of the reaper's windows is an account's.

#include <callsign/ports/store.hpp>

namespace callsign::rules {

// All tasks are in this store.
inline account_class class_of(write_tx& tx, account_id account) {
    return tx.is_elsewhere(account) ? account_class::elsewhere : account_class::here;
}

}  // namespace callsign::rules
