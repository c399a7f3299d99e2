#pragma once
// Accounts, their tokens and their series.

#include <callsign/domain/account.hpp>
#include <callsign/domain/claim.hpp>
#include <callsign/domain/queries/page.hpp>

#include <optional>

namespace callsign {

struct find_account {
    account_ref account;

    using answer = std::optional<callsign::account>;
};
claim claim_of(const find_account& q);

struct list_accounts {
    page_request page;

    using answer = page_of<account>;
};
claim claim_of(const list_accounts& q);

struct list_series {
    account_ref account;
    page_request page;
    time_point now{};  // determines the periods shown

    using answer = std::optional<page_of<series>>;  // none: no such account
};
claim claim_of(const list_series& q);

// The principal of a token, expired and revoked ones included; none: no such token.
struct find_principal {
    digest token_hash{};

    using answer = std::optional<principal>;
};
claim claim_of(const find_principal& q);

// Includes revoked tokens.
struct list_tokens {
    std::optional<account_ref> account;  // none: operator tokens
    page_request page;

    using answer = std::optional<page_of<token>>;  // none: no such account
};
claim claim_of(const list_tokens& q);

}  // namespace callsign
