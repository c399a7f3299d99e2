#pragma once
// Webhooks and their deliveries.

#include <callsign/domain/account.hpp>
#include <callsign/domain/commands/webhooks.hpp>
#include <callsign/domain/queries/page.hpp>
#include <callsign/domain/request_key.hpp>
#include <callsign/domain/webhook.hpp>

#include <optional>
#include <variant>
#include <vector>

namespace callsign {

struct list_webhooks {
    account_id account;
    page_request page;

    using answer = page_of<webhook>;
};

struct find_webhook {
    account_id account;
    callsign::uuid uuid{};

    using answer = std::optional<webhook>;
};

// The response to a request that created or changed a webhook under this key, for a repeated one;
// none: the key was not used.
struct find_repeated_webhook {
    account_id account;
    request_key once;

    // no_such_webhook: it was removed since.
    using answer = std::optional<std::variant<replayed<webhook>, key_conflict, no_such_webhook>>;
};

// The latest deliveries first. None: no such webhook.
struct list_deliveries {
    account_id account;
    callsign::uuid uuid{};

    using answer = std::optional<std::vector<webhook_delivery>>;
};

// Webhooks of all accounts that are not disabled, ordered by ID; for the start of the server.
struct list_active_webhooks {
    webhook_id after{};
    std::int64_t limit = 0;

    using answer = std::vector<webhook>;
};

}  // namespace callsign
