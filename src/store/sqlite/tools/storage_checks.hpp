#pragma once
// Checks of what SQLite keeps besides the rows that the port shows: pages, indexes, references, the
// key index. rules/audit.hpp verifies the rows and the guarantees.

#include "connection.hpp"

#include <callsign/domain/findings.hpp>

#include <string>

namespace callsign::sqlite {

// Runs all checks. Requires: `db` is in a transaction.
void check_storage(connection& db, findings& found);

// ---- the parts ----

void check_keys(connection& db, findings& found);

template <class Look>
void check_part(findings& found, const proof& p, Look look) {
    found.begin(p);
    try {
        look();
    } catch (const store_failure& failure) {
        found.unreadable(p, std::string("cannot be seen to its end: ") + failure.what());
    }
}

}  // namespace callsign::sqlite
