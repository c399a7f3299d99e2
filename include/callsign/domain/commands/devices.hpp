#pragma once
// Devices of managed accounts.

#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/device.hpp>
#include <callsign/domain/sealed_secret.hpp>

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace callsign {

// The devices of an opaque account share a client ID, and bring their own secret.
struct account_is_opaque {};

// The account is remote: its tasks change by way of the remote server only.
struct account_is_remote {};

// Adds a device. `sealed_key` is the key of its bodies, encrypted with the master key for this
// account and client ID (seal/at_rest.hpp); the rule cannot verify it.
struct create_device {
    account_id account;
    std::string name;
    uuid client_id{};
    std::string sealed_key;
    // Maximum of the account's devices that are not revoked: each is another row to read and
    // another key to hold in memory.
    std::size_t active_max = 1000;
    std::optional<request_key> once{};

    struct too_many {};
    using answer =
        std::variant<device, replayed<device>, key_conflict, name_taken, client_id_taken,
                     no_such_account, account_is_opaque, account_is_remote, too_many, account_full>;
};

// Re-encrypts secrets with another master key; a secret that has changed since is left as it is.
struct reseal {
    struct secret {
        sealed_secret was;
        std::string now;
    };
    std::vector<secret> secrets;

    struct answer {};
};

// Revokes a device. Its client ID is never assigned to another device; its name may be.
struct revoke_device {
    account_ref account;
    device_id device;

    struct no_such_device {};
    using answer =
        std::variant<callsign::device, no_such_device, no_such_account, account_is_opaque>;
};

}  // namespace callsign
