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

namespace callsign {

inline auto all_tables() {
    return std::array{&info_of_table<store_totals>(),     &info_of_table<slot>(),
                      &info_of_table<account>(),          &info_of_table<device>(),
                      &info_of_table<series>(),           &info_of_table<prefix_row>(),
                      &info_of_table<counter_row>(),      &info_of_table<skipped_row>(),
                      &info_of_table<task_row>(),         &info_of_table<history_row>(),
                      &info_of_table<fork_row>(),         &info_of_table<version_row>(),
                      &info_of_table<sealed_version>(),   &info_of_table<snapshot_row>(),
                      &info_of_table<remote_chain>(),     &info_of_table<action_row>(),
                      &info_of_table<effect>(),           &info_of_table<contest_row>(),
                      &info_of_table<instance_row>(),     &info_of_table<purge>(),
                      &info_of_table<kept_retry_times>(), &info_of_table<token_row>(),
                      &info_of_table<webhook>(),          &info_of_table<delivery_row>()};
}

}  // namespace callsign
