#pragma once
// The reaper's window class of an account.

#include <callsign/ports/store.hpp>
#include <callsign/rules/rows/accounts.hpp>

namespace callsign::rules {

inline account_class class_of(write_tx& tx, account_id account) {
    return accounts::is_remote(tx, account) ? account_class::remote : account_class::local;
}

}  // namespace callsign::rules
