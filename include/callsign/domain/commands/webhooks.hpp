#pragma once
// Webhooks: creation, changes, removal, and the progress of their deliveries.

#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/commands/tasks.hpp>
#include <callsign/domain/webhook.hpp>

#include <optional>
#include <string>
#include <variant>

namespace callsign {

struct no_such_webhook {};

// A position of the feed, with the mark of its version. Requires: a position of the account's feed.
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
    std::size_t count_max = 0;  // maximum of an account
    std::optional<request_key> once{};

    struct too_many {};
    // no_such_webhook: the request is a retry, and its webhook was removed.
    using answer = std::variant<webhook, replayed<webhook>, key_conflict, no_such_webhook,
                                no_such_account, account_is_opaque, too_many, account_full>;
};

// Members without a value stay unchanged.
struct edit_webhook {
    // Secrets after a rotation, encrypted.
    struct rotation {
        std::string sealed_secrets;
        time_point former_until;
        std::int64_t edits = 0;  // the webhook's when its secret was read
    };

    account_id account;
    callsign::uuid uuid{};
    std::optional<std::string> url{};
    std::optional<std::string> filter{};
    std::optional<bool> enabled{};  // true resets the failures
    std::optional<webhook_start> start{};
    std::optional<rotation> secrets{};
    std::optional<request_key> once{};

    // The webhook was edited while its secret was rotated: nothing was done.
    struct edited_meanwhile {};
    using answer = std::variant<webhook, replayed<webhook>, key_conflict, no_such_webhook,
                                edited_meanwhile, account_full>;
};

struct remove_webhook {
    account_id account;
    callsign::uuid uuid{};
    std::optional<request_key> once{};

    struct removed {};
    using answer = std::variant<removed, replayed<removed>, key_conflict, no_such_webhook>;
};

// Records the result of an attempt, or that nothing was to be posted up to a position. Ignored if
// the owner has edited the webhook since.
struct settle_delivery {
    account_id account;
    callsign::uuid uuid{};
    std::int64_t edits = 0;                     // the webhook's, when the attempt began
    std::optional<webhook_start> reached{};     // none: no progress
    std::optional<webhook_delivery> attempt{};  // for the delivery log
    std::optional<webhook_end> disable{};       // disables the webhook, whatever its failures
    std::int64_t failures_max = 0;              // this many in a row disable the webhook

    struct superseded {};
    using answer = std::variant<webhook, superseded>;
};

}  // namespace callsign
