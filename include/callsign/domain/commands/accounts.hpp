#pragma once
// Accounts, their tokens and their series.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/claim.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace callsign {

struct name_taken {};
struct no_such_account {};
struct client_id_taken {};

struct create_account {
    std::string name;
    std::string prefix;
    std::string token_name;
    digest token_hash{};
    // With a client id the account is opaque, and that id opens its chain.
    std::optional<uuid> client_id{};
    // Its tasks live there, and are many or none.
    struct home {
        std::string url;
        uuid client_id{};
        std::string sealed_key;
    };
    std::optional<home> elsewhere{};

    using answer = std::variant<account, name_taken, client_id_taken>;
};
claim claim_of(const create_account& c);

// Another name, or whether anybody gets in. To enable one that was deleted is to have it back.
struct edit_account {
    account_ref account;
    std::optional<std::string> name{};
    std::optional<bool> disabled{};

    using answer = std::variant<callsign::account, no_such_account, name_taken>;
};
claim claim_of(const edit_account& c);

// Nobody gets in from now on; it goes when its grace is over. Again: no fault, and the first
// instant holds.
struct delete_account {
    account_ref account;

    using answer = std::variant<callsign::account, no_such_account>;
};
claim claim_of(const delete_account& c);

// How far an account is removed: a table, and the last of its rows that was looked at.
struct removal_place {
    std::int64_t table = 0;
    std::int64_t row = 0;
};

// A bounded part of the accounts whose grace is over. Before one goes its slots are gone: who
// retries a creation is told its receipt for as long as ever.
struct remove_deleted {
    struct place {
        account_id account;
        removal_place at{};
    };

    milliseconds grace{0};
    std::int64_t limit = 0;
    std::optional<place> from{};  // where the last one ended

    struct answer {
        std::int64_t removed = 0;     // accounts
        std::optional<place> next{};  // none: that is all for now
    };
};
claim claim_of(const remove_deleted& c);

struct create_token {
    std::optional<account_ref> account;  // none: the operator's
    std::string name;
    token_scope scope = token_scope::write;
    digest token_hash{};
    std::optional<time_point> expires_at{};

    // Live ones. The operators have as many as they want.
    struct too_many_tokens {};
    using answer = std::variant<token, no_such_account, too_many_tokens>;
};
claim claim_of(const create_token& c);

struct revoke_token {
    token_id token;
    std::optional<account_id> account;  // must be this account's, if given

    struct no_such_token {};
    using answer = std::variant<callsign::token, no_such_token>;
};
claim claim_of(const revoke_token& c);

}  // namespace callsign
