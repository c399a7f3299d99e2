#pragma once
// All questions to a store, as values. The rule of its name (rules/read.hpp) answers a query in a
// read transaction, from what was durable when it began, and changes nothing. Each has a claim:
// whose share it counts against, and its cost.
//
// To add one: a struct in queries/, a line below, its claim_of() in src/domain/claims.cpp, and a
// read() in rules/read/.

#include <callsign/domain/claim.hpp>
#include <callsign/domain/queries/accounts.hpp>
#include <callsign/domain/queries/auditing.hpp>
#include <callsign/domain/queries/chain.hpp>
#include <callsign/domain/queries/devices.hpp>
#include <callsign/domain/queries/feed.hpp>
#include <callsign/domain/queries/remote_chain.hpp>
#include <callsign/domain/queries/scrubbing.hpp>
#include <callsign/domain/queries/sealed_chain.hpp>
#include <callsign/domain/queries/slots.hpp>
#include <callsign/domain/queries/tasks.hpp>
#include <callsign/domain/queries/webhooks.hpp>

// The only list of queries: for claim_of(), rules::read() and engine::ask().
// clang-format off
#define CALLSIGN_QUERIES(DO) \
    DO(find_account) \
    DO(list_accounts) \
    DO(list_series) \
    DO(find_principal) \
    DO(list_tokens) \
    DO(find_repeated_token) \
    DO(find_device) \
    DO(list_devices) \
    DO(find_device_with_key) \
    DO(foresee_create_device) \
    DO(find_task) \
    DO(read_tasks) \
    DO(list_tasks) \
    DO(scan_tasks) \
    DO(find_listed_tasks) \
    DO(find_slot) \
    DO(list_slots) \
    DO(count_pending_slots) \
    DO(find_retry_times) \
    DO(find_head) \
    DO(find_child) \
    DO(find_missed) \
    DO(read_versions) \
    DO(read_changes) \
    DO(find_opaque_account) \
    DO(find_sealed_child) \
    DO(find_sealed_snapshot) \
    DO(read_sealed_versions) \
    DO(find_half_managed) \
    DO(list_remotes) \
    DO(find_remote) \
    DO(list_in_flight) \
    DO(knows_version) \
    DO(find_numbering) \
    DO(find_renamed) \
    DO(find_instance) \
    DO(find_purged) \
    DO(find_purged_text) \
    DO(list_sealed) \
    DO(list_actions) \
    DO(list_webhooks) \
    DO(find_webhook) \
    DO(find_repeated_webhook) \
    DO(list_deliveries) \
    DO(list_active_webhooks)
// clang-format on

namespace callsign {

#define CALLSIGN_CLAIM(name) claim claim_of(const name& q);
CALLSIGN_QUERIES(CALLSIGN_CLAIM)
#undef CALLSIGN_CLAIM

}  // namespace callsign
