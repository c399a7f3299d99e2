#pragma once
// Sealed chains: an opaque account's history, as its clients keep it.

#include <callsign/domain/account.hpp>
#include <callsign/domain/claim.hpp>
#include <callsign/domain/sealed.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace callsign {

struct no_such_client {};
struct device_revoked {};
// The account is not of the kind the command is for: it has become managed since it was looked at.
struct account_changed {};

// Appends a version to the client's chain if `parent` is its last one; an empty chain takes any.
struct add_sealed_version {
    uuid client_id{};
    uuid parent{};
    std::string segment;
    // An unknown client gets an account of its own, in the same transaction.
    bool may_register = false;
    account_id account;  // whose share of the queue it takes; 0: not known yet

    struct added {
        account_id account;
        uuid version{};
        std::optional<snapshot_age> snapshot;  // as it was before this version
    };
    // Another version came first.
    struct expected_parent {
        account_id account;
        uuid latest{};
    };
    using answer =
        std::variant<added, expected_parent, no_such_client, account_changed, account_full>;
};
claim claim_of(const add_sealed_version& c);

// Keeps a snapshot if it is of one of the latest versions and newer than the one there is.
struct add_sealed_snapshot {
    // The head and its nearest ancestors: a client that was slow is still listened to.
    static constexpr std::int64_t versions_back_max = 4;

    uuid client_id{};
    uuid version{};
    std::string bytes;
    account_id account;  // as above

    // `kept`: false is no fault of the client's.
    struct considered {
        bool kept = false;
    };
    using answer = std::variant<considered, no_such_client, account_changed, account_full>;
};
claim claim_of(const add_sealed_snapshot& c);

// The opaque account of a client, made if there is none, and where its chain ends.
struct register_client {
    uuid client_id{};

    struct answer {
        callsign::account account;
        chain_head head;
    };
};
claim claim_of(const register_client& c);

// A version that another server gave its id to. Repeating it changes nothing.
struct import_sealed_version {
    uuid client_id{};
    uuid parent{};
    uuid version{};
    std::string segment;

    struct imported {};
    struct there_already {};
    // The chain here has gone another way.
    struct differs {};
    using answer = std::variant<imported, there_already, differs, no_such_client>;
};
claim claim_of(const import_sealed_version& c);

// The snapshot that another server held. Repeating it changes nothing.
struct import_sealed_snapshot {
    uuid client_id{};
    uuid version{};
    time_point taken_at;
    std::int64_t versions_since = 0;
    std::string bytes;

    struct imported {};
    // One as new, or newer, is here.
    struct there_already {};
    struct unknown_version {};
    using answer = std::variant<imported, there_already, unknown_version, no_such_client>;
};
claim claim_of(const import_sealed_snapshot& c);

}  // namespace callsign
