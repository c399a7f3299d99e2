#pragma once
// What SQLite keeps beside what the port shows, and what must agree with it: pages, indexes,
// references, the index of keys. The rows, and the promise, are rules/audit.hpp's.

#include "connection.hpp"

#include <callsign/domain/findings.hpp>

#include <string>

namespace callsign::sqlite {

// All of them. Requires: `db` is in a transaction.
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
