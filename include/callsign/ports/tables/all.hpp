#pragma once
// All declared tables.

#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/actions.hpp>
#include <callsign/ports/tables/devices.hpp>
#include <callsign/ports/tables/fork_versions.hpp>
#include <callsign/ports/tables/instance.hpp>
#include <callsign/ports/tables/outbox.hpp>
#include <callsign/ports/tables/purges.hpp>
#include <callsign/ports/tables/remotes.hpp>
#include <callsign/ports/tables/requests.hpp>
#include <callsign/ports/tables/retry_times.hpp>
#include <callsign/ports/tables/sealed.hpp>
#include <callsign/ports/tables/series.hpp>
#include <callsign/ports/tables/slots.hpp>
#include <callsign/ports/tables/tasks.hpp>
#include <callsign/ports/tables/tokens.hpp>
#include <callsign/ports/tables/totals.hpp>
#include <callsign/ports/tables/versions.hpp>
#include <callsign/ports/tables/webhooks.hpp>

#include <array>

// The only list of tables, by their rows.
// clang-format off
#define CALLSIGN_TABLES(DO) \
    DO(store_totals) \
    DO(slot) \
    DO(account) \
    DO(device) \
    DO(series) \
    DO(prefix_row) \
    DO(counter_row) \
    DO(skipped_row) \
    DO(task_row) \
    DO(history_row) \
    DO(fork_row) \
    DO(version_row) \
    DO(sealed_version) \
    DO(snapshot_row) \
    DO(remote_chain) \
    DO(action_row) \
    DO(effect) \
    DO(contest_row) \
    DO(instance_row) \
    DO(purge) \
    DO(kept_retry_times) \
    DO(token_row) \
    DO(kept_request) \
    DO(webhook) \
    DO(delivery_row)
// clang-format on

namespace callsign {

inline auto all_tables() {
    return std::array{
#define CALLSIGN_TABLE(row) &info_of_table<row>(),
        CALLSIGN_TABLES(CALLSIGN_TABLE)
#undef CALLSIGN_TABLE
    };
}

}  // namespace callsign
