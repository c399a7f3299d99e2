#pragma once
// What can be wrong with the machinery, as opposed to what an input can be answered with. Expected
// answers are values (see domain/command.hpp); these are the few things that go wrong around them.
// They become HTTP statuses in one place, api/problem.cpp.

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>

namespace callsign {

enum class errc {
    // A bounded queue is full, or the caller's account holds its fair share of it. Nothing was
    // done.
    overloaded = 1,
    // The process is draining. Nothing was done.
    shutting_down,
    // The caller's deadline passed before the command was taken into a batch. Nothing was done.
    deadline_exceeded,
    // The store said no before anything became durable, for now. Nothing was done.
    store_refused,
    // COMMIT failed and nobody knows whether it took. Ask again with the same key after the
    // restart.
    outcome_unknown,
    // The store cannot be read now.
    store_unavailable,
    // The disk has no room for it. Nothing was done.
    storage_full,
    // What the disk holds is not what was written there. Nothing was done.
    store_damaged,
    // A row that is needed cannot be read, or contradicts others; they are not concerned. Nothing
    // was done.
    record_damaged,
    // The server that the account's tasks live on cannot be reached, or says no. Nothing was done.
    remote_unavailable,
    // The account was removed after the request was let in. Nothing was done.
    account_gone,
};

const boost::system::error_category& callsign_category() noexcept;

inline boost::system::error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), callsign_category()};
}

}  // namespace callsign

template <>
struct boost::system::is_error_code_enum<callsign::errc> : std::true_type {};
