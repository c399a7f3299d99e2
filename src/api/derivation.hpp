#pragma once
// Keys from secrets: PBKDF2 takes a good part of a second of a core, so it runs beside the network
// thread, one at a time, for one account after the other.

#include "handlers.hpp"

#include <callsign/seal/at_rest.hpp>
#include <callsign/seal/secret.hpp>

#include <memory>
#include <optional>
#include <string>

namespace callsign::api {

// Errors as engine::run_aside. `secret` is the awaiting frame's.
awaitable<result<seal::key>> derive_aside(rooms& r, account_id account, const std::string& secret,
                                          uuid client_id);

// What is stored of a device's key. Requires: a master key.
std::string sealed_at_rest(rooms& r, const seal::belongs_to& owner, const seal::key& derived);

// None: there is no master key, or it is another one.
std::shared_ptr<const seal::key> open_device_key(const seal::key* master, const device& d);

http_response answer_no_master_key(const call& c);

}  // namespace callsign::api
