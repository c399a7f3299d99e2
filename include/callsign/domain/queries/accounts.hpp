#pragma once
// Accounts, their tokens and their series.

#include <callsign/domain/account.hpp>
#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/queries/page.hpp>
#include <callsign/domain/request_key.hpp>

#include <optional>
#include <variant>

namespace callsign {

struct find_account {
    account_ref account;

    using answer = std::optional<callsign::account>;
};

struct list_accounts {
    page_request page;

    using answer = page_of<account>;
};

struct list_series {
    account_ref account;
    page_request page;
    time_point now{};  // determines the periods shown

    using answer = std::optional<page_of<series>>;  // none: no such account
};

// The next series after `after`, of any account, that is resumed and still numbering.
struct find_numbering {
    series_id after;

    struct answer {
        std::optional<series_id> series{};  // none: no more
    };
};

// The next series after `after`, of any account, that was renamed and whose tasks are being
// updated.
struct find_renamed {
    series_id after;

    using answer = find_numbering::answer;
};

// Identifies the store's history: a restore changes it, and nothing else.
struct find_instance {
    using answer = uuid;
};

// The principal of a token, expired and revoked ones included; none: no such token.
struct find_principal {
    digest token_hash{};

    using answer = std::optional<principal>;
};

// The response to a request that created a token under this key, for a repeated one; none: the key
// was not used.
struct find_repeated_token {
    std::optional<account_ref> account;  // none: an operator token
    request_key once;

    using answer =
        std::optional<std::variant<replayed<token>, key_conflict, create_token::has_ended>>;
};

// Includes revoked tokens.
struct list_tokens {
    std::optional<account_ref> account;  // none: operator tokens
    page_request page;

    using answer = std::optional<page_of<token>>;  // none: no such account
};

}  // namespace callsign
