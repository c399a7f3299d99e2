#pragma once
// What the server holds of an opaque account.

#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/commands/sealed_chain.hpp>
#include <callsign/domain/device.hpp>
#include <callsign/domain/queries/chain.hpp>
#include <callsign/domain/queries/content.hpp>
#include <callsign/domain/sealed.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace callsign {

struct account_is_managed {};

// By its name, with the client that all its devices share, and the end of its chain.
struct find_opaque_account {
    std::string name;

    struct found {
        callsign::account account;
        device client;
        chain_head head;
    };
    using answer = std::variant<found, no_such_account, account_is_managed>;
};
claim claim_of(const find_opaque_account& q);

// The version after `parent`.
struct find_sealed_child {
    // What is loaded among the questions of others, which wait for it.
    static constexpr std::size_t quick_bytes_max = std::size_t{256} * 1024;

    account_id account;
    uuid parent{};
    std::size_t bytes_max = quick_bytes_max;
    reserve_bytes reserve{};

    // It has more than `bytes_max`.
    struct too_large {
        std::size_t bytes = 0;
    };
    using answer = std::variant<sealed_version, up_to_date, unknown_version, account_changed,
                                too_large, no_room>;
};
claim claim_of(const find_sealed_child& q);

struct find_sealed_snapshot {
    account_id account;
    reserve_bytes reserve{};

    struct none {};
    using answer = std::variant<sealed_snapshot, none, account_changed, no_room>;
};
claim claim_of(const find_sealed_snapshot& q);

// The versions after `after`, in order, a bounded number at a time; none: that was all.
struct read_sealed_versions {
    static constexpr std::int64_t versions_max = 500;
    static constexpr std::size_t bytes_max = std::size_t{1} << 20;

    account_id account;
    chain_head after;  // of seq 0: from the first

    struct answer {
        // Of what was before the first version, if that has a parent.
        std::optional<sealed_snapshot> before;
        std::vector<sealed_version> versions;
    };
};
claim claim_of(const read_sealed_versions& q);

// The first account after `after` of which a conversion has left something when the server died:
// one that is opaque and has versions taken over, or is managed and has sealed ones.
struct find_half_managed {
    account_id after;
    std::int64_t limit = 500;  // accounts looked at

    struct found {
        account_id account;
        account_mode mode = account_mode::managed;
    };
    struct answer {
        std::optional<found> first;
        std::optional<account_id> next;  // where to go on; none: that was all
    };
};
claim claim_of(const find_half_managed& q);

}  // namespace callsign
