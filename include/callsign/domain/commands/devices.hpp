#pragma once
// Devices of managed accounts.

#include <callsign/domain/claim.hpp>
#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/device.hpp>
#include <callsign/domain/sealed_secret.hpp>

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace callsign {

// An opaque account's devices share a client id, and bring their secret themselves.
struct account_is_opaque {};

// Its tasks live on another server: what is to come to it comes by way of that.
struct account_is_elsewhere {};

// One more syncing client. `sealed_key` is what it seals with, itself sealed under the master key
// for this account and client id (seal/at_rest.hpp): a rule cannot tell whether it opens.
struct create_device {
    account_id account;
    std::string name;
    uuid client_id{};
    std::string sealed_key;
    // Of the account's devices that are not revoked. Each is one more row to look through and one
    // more key to keep.
    std::size_t active_max = 1000;

    struct too_many {};
    using answer = std::variant<device, name_taken, client_id_taken, no_such_account,
                                account_is_opaque, account_is_elsewhere, too_many>;
};
claim claim_of(const create_device& c);

// Each is sealed under another master key from now on, if it still is what it was.
struct reseal {
    struct secret {
        sealed_secret was;
        std::string now;
    };
    std::vector<secret> secrets;

    struct answer {};
};
claim claim_of(const reseal& c);

// Its client id is never given to another device; its name may be.
struct revoke_device {
    account_ref account;
    device_id device;

    struct no_such_device {};
    using answer =
        std::variant<callsign::device, no_such_device, no_such_account, account_is_opaque>;
};
claim claim_of(const revoke_device& c);

}  // namespace callsign
