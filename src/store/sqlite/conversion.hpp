#pragma once
// A large store comes from schema 17 to 18: its rows move in steps, each a transaction of its own,
// so that memory and the log stay small however many they are. Cut off anywhere, it goes on where
// it was.

#include "connection.hpp"

#include <callsign/store/sqlite.hpp>

namespace callsign::sqlite {

// Requires: the file has schema 17, and `db` is not in a transaction.
void move_to_bulk_indexes(connection& db, const store_progress& progress);

}  // namespace callsign::sqlite
