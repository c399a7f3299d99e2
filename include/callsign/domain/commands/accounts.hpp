#pragma once
// Accounts and their tokens.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/request_key.hpp>

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
    // With a client ID the account is opaque, and the ID gives access to its chain.
    std::optional<uuid> client_id{};
    // The remote server, which may have any number of tasks already.
    struct remote_endpoint {
        std::string url;
        uuid client_id{};
        std::string sealed_key;
    };
    std::optional<remote_endpoint> remote{};

    using answer = std::variant<account, name_taken, client_id_taken>;
};

// Renames an account, disables or enables it. Enabling a deleted account restores it.
struct edit_account {
    account_ref account;
    std::optional<std::string> name{};
    std::optional<bool> disabled{};

    using answer = std::variant<callsign::account, no_such_account, name_taken>;
};

// Blocks access from now on; the account is removed after the grace period. Repeating it succeeds,
// and the first instant counts.
struct delete_account {
    account_ref account;

    using answer = std::variant<callsign::account, no_such_account>;
};

// Progress of an account's removal: a table, and the last of its rows that was looked at.
struct removal_place {
    std::int64_t table = 0;
    std::int64_t row = 0;
};

// Removes a bounded part of the accounts whose grace period is over. An account is kept while it
// has pending slots.
struct remove_deleted {
    struct place {
        account_id account;
        removal_place at{};
    };

    milliseconds grace{0};
    std::int64_t limit = 0;
    std::optional<place> from{};  // where the previous command ended

    struct answer {
        std::int64_t removed = 0;     // accounts
        std::optional<place> next{};  // none: all done for now
    };
};

struct create_token {
    std::optional<account_ref> account;  // none: an operator token
    std::string name;
    token_scope scope = token_scope::write;
    digest token_hash{};
    std::optional<time_point> expires_at{};
    std::optional<request_key> once{};

    // The account has the maximum number of live tokens. Operator tokens are not limited.
    struct too_many_tokens {};
    // A request is repeated whose token has ended and was removed.
    struct has_ended {};
    using answer = std::variant<token, replayed<token>, key_conflict, no_such_account,
                                too_many_tokens, has_ended, account_full>;
};

struct revoke_token {
    token_id token;
    std::optional<account_id> account;  // if given, the token must belong to this account

    struct no_such_token {};
    using answer = std::variant<callsign::token, no_such_token>;
};

}  // namespace callsign
