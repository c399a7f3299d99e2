#pragma once
// Copies a whole store to another one, row by row: IDs, receipts and times stay as they are. For
// moves between a data directory and a database.

#include <callsign/ports/store.hpp>

#include <cstdint>
#include <functional>
#include <string_view>

namespace callsign::rules {

// Called after each transaction: the table in progress, and how many rows were copied in all.
using copy_progress = std::function<void(std::string_view table, std::int64_t rows)>;

// Copies in transactions of bounded work. What an interrupted copy of the same store has left in
// `to` is kept, and the copy continues behind it. Returns the number of rows copied. Throws
// std::runtime_error if `to` has rows of another store, and store_failure.
std::int64_t copy_store(read_tx& from, store& to, const copy_progress& told);

}  // namespace callsign::rules
