#pragma once
// The stored data of opaque accounts.

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

// Finds an account by name, with the client that all its devices share and the end of its chain.
struct find_opaque_account {
    std::string name;

    struct found {
        callsign::account account;
        device client;
        chain_head head;
    };
    using answer = std::variant<found, no_such_account, account_is_managed>;
};

// The version after `parent`.
struct find_sealed_child {
    // The maximum loaded among other queries, which wait meanwhile.
    static constexpr std::size_t quick_bytes_max = std::size_t{256} * 1024;

    account_id account;
    uuid parent{};
    std::size_t bytes_max = quick_bytes_max;
    reserve_bytes reserve{};

    // The version has more than `bytes_max`.
    struct too_large {
        std::size_t bytes = 0;
    };
    using answer = std::variant<sealed_version, up_to_date, unknown_version, account_changed,
                                too_large, no_room>;
};

struct find_sealed_snapshot {
    account_id account;
    reserve_bytes reserve{};

    struct none {};
    using answer = std::variant<sealed_snapshot, none, account_changed, no_room>;
};

// The versions after `after`, in order, at most versions_max or bytes_max; empty: there are none.
struct read_sealed_versions {
    static constexpr std::int64_t versions_max = 500;
    static constexpr std::size_t bytes_max = std::size_t{1} << 20;

    account_id account;
    chain_head after;  // seq 0: from the first

    struct answer {
        // The snapshot of the first version's parent, if it has one.
        std::optional<sealed_snapshot> before;
        std::vector<sealed_version> versions;
    };
};

// The first account after `after` with rows of an interrupted conversion: an opaque account with
// versions taken over, or a managed one with sealed versions.
struct find_half_managed {
    account_id after;
    std::int64_t limit = 500;  // number of accounts looked at

    struct found {
        account_id account;
        account_mode mode = account_mode::managed;
    };
    struct answer {
        std::optional<found> first;
        std::optional<account_id> next;  // resume after it; none: done
    };
};

}  // namespace callsign
