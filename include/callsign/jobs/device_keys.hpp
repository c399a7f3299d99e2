#pragma once
// Devices' keys: derived from their secrets, and kept sealed under the master key.

#include <callsign/domain/device.hpp>
#include <callsign/jobs/context.hpp>
#include <callsign/seal/at_rest.hpp>
#include <callsign/seal/secret.hpp>

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <variant>

namespace callsign::jobs {

// There is nothing to keep a secret under.
struct no_master_key {};

// PBKDF2 takes a good part of a second of a core, so it is offloaded. Errors as engine::offload.
// `secret` is the awaiting frame's.
boost::asio::awaitable<result<seal::key>> derive_key(context& with, payer pays,
                                                     const std::string& secret, uuid client_id);

// What is stored of a device's key. Requires: a master key.
std::string sealed_at_rest(context& with, const seal::belongs_to& owner, const seal::key& derived);

// None: there is no master key, or it is another one.
std::shared_ptr<const seal::key> open_device_key(const seal::key_ring* master, const device& d);

// A version 4 UUID (RFC 9562): the id is all that a client of an opaque account proves itself with,
// so nobody may guess it.
uuid draw_client_id(entropy& source);

// A device of a managed account. Its secret is drawn here and told in this one answer: what is
// stored is the key derived from it.
struct new_device {
    callsign::device device;
    std::string secret;  // the caller's to wipe
};
using add_device_answer = std::variant<new_device, create_device::answer, no_master_key>;

// What will be refused is found out before a key is derived for it.
boost::asio::awaitable<result<add_device_answer>> add_device(context& with, account_ref account,
                                                             std::string name, actor by);

}  // namespace callsign::jobs
