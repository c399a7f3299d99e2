#pragma once
// Sealed chains: the encrypted history of opaque accounts, as their clients store it.

#include <callsign/domain/account.hpp>
#include <callsign/domain/sealed.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace callsign {

struct no_such_client {};
struct device_revoked {};
// The account has become managed since it was looked up, so the command does not apply to it.
struct account_changed {};

// Appends a version to the client's chain if `parent` is its last one, or if the chain is empty.
struct add_sealed_version {
    uuid client_id{};
    uuid parent{};
    std::string segment;
    // An unknown client gets an account of its own, in the same transaction.
    bool may_register = false;
    account_id account;  // whose share it counts against; 0: unknown

    struct added {
        account_id account;
        uuid version{};
        std::optional<snapshot_age> snapshot;  // without this version
    };
    // The chain has another last version.
    struct expected_parent {
        account_id account;
        uuid latest{};
    };
    using answer =
        std::variant<added, expected_parent, no_such_client, account_changed, account_full>;
};

// Stores a snapshot if it is of one of the latest versions and newer than the present one.
struct add_sealed_snapshot {
    // Accepts the head and this many versions before it, for slow clients.
    static constexpr std::int64_t versions_back_max = 4;

    uuid client_id{};
    uuid version{};
    std::string bytes;
    account_id account;  // whose share it counts against; 0: unknown

    // `kept`: false is no error of the client.
    struct considered {
        bool kept = false;
    };
    using answer = std::variant<considered, no_such_client, account_changed, account_full>;
};

// Returns the opaque account of a client, created if there is none, and the end of its chain.
struct register_client {
    uuid client_id{};

    struct answer {
        callsign::account account;
        chain_head head;
    };
};

// Imports a version with the ID that another server gave it. Repeating it changes nothing.
struct import_sealed_version {
    uuid client_id{};
    uuid parent{};
    uuid version{};
    std::string segment;

    struct imported {};
    struct there_already {};
    // The chain here has diverged.
    struct differs {};
    using answer = std::variant<imported, there_already, differs, no_such_client>;
};

// Imports the snapshot of another server. Repeating it changes nothing.
struct import_sealed_snapshot {
    uuid client_id{};
    uuid version{};
    time_point taken_at;
    std::int64_t versions_since = 0;
    std::string bytes;

    struct imported {};
    // The store has a snapshot that is as new or newer.
    struct there_already {};
    struct unknown_version {};
    using answer = std::variant<imported, there_already, unknown_version, no_such_client>;
};

}  // namespace callsign
