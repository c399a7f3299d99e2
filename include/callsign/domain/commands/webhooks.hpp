#pragma once
// Webhooks: made, edited, removed, and how far each has come.

#include <callsign/domain/claim.hpp>
#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/commands/tasks.hpp>
#include <callsign/domain/webhook.hpp>

#include <optional>
#include <string>
#include <variant>

namespace callsign {

struct no_such_webhook {};

// From a place of the feed, with the mark of its version. Requires: it is one of the account's.
struct webhook_start {
    feed_place after{};
    std::string mark;
};

struct create_webhook {
    account_id account;
    callsign::uuid uuid{};
    std::string url;
    std::string filter;
    std::string sealed_secret;
    webhook_start start;
    std::size_t count_max = 0;  // an account's

    struct too_many {};
    using answer = std::variant<webhook, no_such_account, account_is_opaque, too_many>;
};
claim claim_of(const create_webhook& c);

struct edit_webhook {
    account_id account;
    callsign::uuid uuid{};
    std::optional<bool> enabled{};  // true forgets its failures
    std::optional<webhook_start> start{};

    using answer = std::variant<webhook, no_such_webhook>;
};
claim claim_of(const edit_webhook& c);

struct remove_webhook {
    account_id account;
    callsign::uuid uuid{};

    struct removed {};
    using answer = std::variant<removed, no_such_webhook>;
};
claim claim_of(const remove_webhook& c);

// What became of an attempt, or that there was nothing to post up to a place. Heard only if its
// owner has not edited it since.
struct settle_delivery {
    account_id account;
    callsign::uuid uuid{};
    std::int64_t edits = 0;                     // its, when the attempt began
    std::optional<webhook_start> reached{};     // none: as far as before
    std::optional<webhook_delivery> attempt{};  // for the log
    std::optional<webhook_end> disable{};       // whatever its failures
    std::int64_t failures_max = 0;              // so many in a row disable it

    struct superseded {};
    using answer = std::variant<webhook, superseded>;
};
claim claim_of(const settle_delivery& c);

}  // namespace callsign
