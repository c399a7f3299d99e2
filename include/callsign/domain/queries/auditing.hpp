#pragma once
// The audit log.

#include <callsign/domain/account.hpp>
#include <callsign/domain/admin_action.hpp>
#include <callsign/domain/queries/page.hpp>

#include <optional>

namespace callsign {

// The latest actions first: `page.after` is the ID of the last one seen, and earlier ones follow.
struct list_actions {
    page_request page;
    std::optional<account_ref> account{};  // the account concerned; none: all

    using answer = std::optional<page_of<admin_action>>;  // none: no such account
};

}  // namespace callsign
