#pragma once
// Keys of devices: derived from their secrets, stored encrypted with the master key.

#include <callsign/domain/device.hpp>
#include <callsign/jobs/context.hpp>
#include <callsign/seal/at_rest.hpp>
#include <callsign/seal/secret.hpp>

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace callsign::jobs {

// There is no master key to encrypt a secret with.
struct no_master_key {};

// PBKDF2 takes a large part of a second of a core, so it is offloaded. Errors as engine::offload.
// `secret` must outlive the call.
boost::asio::awaitable<result<seal::key>> derive_key(context& with, payer pays,
                                                     const std::string& secret, uuid client_id);

// Returns a device's key as it is stored. Requires: a master key.
std::string sealed_at_rest(context& with, const seal::belongs_to& owner, const seal::key& derived);

// Null: the master key is missing or wrong.
std::shared_ptr<const seal::key> open_device_key(const seal::key_ring* master, const device& d);

// A new device of a managed account. Its secret is generated here and returned this once: only the
// key derived from it is stored.
struct new_device {
    callsign::device device;
    std::string secret;  // to be wiped by the caller
};
using add_device_answer = std::variant<new_device, create_device::answer, no_master_key>;

// Returns the request's key, with the secret that is generated for the device; none: it has no key.
using keyed_secret = std::function<std::optional<request_key>(const std::string& secret)>;

// Checks for rejection before deriving a key, unless `once` was used before: of a retry the answer
// is create_device's.
boost::asio::awaitable<result<add_device_answer>> add_device(context& with, account_ref account,
                                                             std::string name, actor by,
                                                             std::optional<request_key> once = {},
                                                             keyed_secret keyed = {});

}  // namespace callsign::jobs
