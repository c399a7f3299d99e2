#pragma once
// Webhooks and their deliveries.

#include <callsign/domain/account.hpp>
#include <callsign/domain/queries/page.hpp>
#include <callsign/domain/webhook.hpp>

#include <optional>
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
