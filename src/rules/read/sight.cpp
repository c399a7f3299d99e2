#include "audit/parts.hpp"

#include <callsign/domain/task_faults.hpp>
#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/devices.hpp>
#include <callsign/ports/tables/series.hpp>
#include <callsign/ports/tables/slots.hpp>
#include <callsign/ports/tables/tasks.hpp>
#include <callsign/rules/sight.hpp>

namespace callsign::rules {
namespace {

constexpr std::size_t listed_max = 10;

std::string account_name(read_tx& tx, account_id id) {
    return tx.expect<accounts_by_id>(id)->name;
}

void look_at_slots(read_tx& tx, store_sight& found) {
    for (const auto& oldest : tx.all(range_of<slots_open>().limit(1))) {
        found.oldest_pending = oldest->created_at;
    }
}

void look_at_series(read_tx& tx, store_sight& found) {
    if (found.held_count == 0) return;
    tx.scan(range_of<series_by_id>(), [&](const row_of<series>& each) {
        if (each->held) found.held.push_back({account_name(tx, each->account), each->prefix});
        return found.held.size() < listed_max;
    });
}

// The newest device that has a key and is not revoked.
void look_at_devices(read_tx& tx, store_sight& found) {
    tx.scan(range_of<devices_by_id>().descending(), [&](const row_of<device>& each) {
        if (each->sealed_key.empty() || each->revoked_at) return true;
        found.device = {each->account, each->client_id, each->sealed_key};
        return false;
    });
}

void look_at_tasks(read_tx& tx, time_point made_before, store_sight& found) {
    std::vector<row_of<task_row>> first;
    auditing::each_row(
        auditing::whole_rows_at_once,
        [&](std::int64_t after, std::int64_t limit) {
            return tx.all(range_of<tasks_by_id>().after(task_id{after}).limit(limit));
        },
        [](const row_of<task_row>& row) { return row->id.value; },
        [&](const row_of<task_row>& row) {
            const bool is_meant = row->numbered && !row->purged && row->created_at < made_before &&
                                  is_incomplete(row->attributes);
            if (!is_meant) return;
            ++found.incomplete_count;
            if (first.size() < listed_max) first.push_back(row);
        },
        [](std::int64_t /*from*/, std::int64_t /*to*/, const std::string& /*why*/) {});
    for (const auto& each : first) {
        const auto from = tx.expect<series_by_id>(each->series);
        const auto counter = tx.expect<counters_by_id>(each->numbered->counter);
        found.incomplete.push_back(
            {account_name(tx, each->account),
             format_key(from->prefix, counter->period, each->numbered->number), each->uuid});
    }
}

}  // namespace

store_sight look_at(read_tx& tx, time_point made_before) {
    const auto totals = tx.expect<totals_by_id>(store_totals::only);
    store_sight found;
    found.last_moment = totals->last_moment;
    found.pending = totals->slots.pending;
    found.held_count = totals->held_series;
    look_at_slots(tx, found);
    look_at_series(tx, found);
    look_at_devices(tx, found);
    look_at_tasks(tx, made_before, found);
    return found;
}

}  // namespace callsign::rules
