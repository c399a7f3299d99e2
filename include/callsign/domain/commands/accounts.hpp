#pragma once
// Accounts, their tokens and their series.

#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/claim.hpp>

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

struct create_token {
    std::optional<account_ref> account;  // none: the operator's
    std::string name;
    token_scope scope = token_scope::write;
    digest token_hash{};
    std::optional<time_point> expires_at{};

    using answer = std::variant<token, no_such_account>;
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
