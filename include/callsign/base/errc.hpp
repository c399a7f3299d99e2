#pragma once
// Errors of the infrastructure. Expected outcomes of a command are values instead
// (domain/command.hpp). api/problem.cpp alone maps these errors to HTTP statuses.

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>

namespace callsign {

enum class errc {
    // A bounded queue is full, or the account uses its whole share of it. Nothing was done.
    overloaded = 1,
    // The process is shutting down. Nothing was done.
    shutting_down,
    // The deadline passed before the command or query was started. Nothing was done.
    deadline_exceeded,
    // The store rejected the transaction for now, before anything became durable. Nothing was done.
    store_rejected,
    // COMMIT failed, outcome unknown. Retry with the same idempotency key after the restart.
    outcome_unknown,
    // The store cannot be read at present.
    store_unavailable,
    // The disk is full. Nothing was done.
    storage_full,
    // Stored pages are corrupt. Nothing was done.
    store_damaged,
    // A row that is needed cannot be read or contradicts other rows; other requests are not
    // affected. Nothing was done.
    record_damaged,
    // The account's remote server cannot be reached or rejects the request. Nothing was done.
    remote_unavailable,
    // The account was removed after the request was admitted. Nothing was done.
    account_gone,
};

const boost::system::error_category& callsign_category() noexcept;

inline boost::system::error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), callsign_category()};
}

}  // namespace callsign

template <>
struct boost::system::is_error_code_enum<callsign::errc> : std::true_type {};
