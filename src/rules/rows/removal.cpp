#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/devices.hpp>
#include <callsign/ports/tables/fork_versions.hpp>
#include <callsign/ports/tables/outbox.hpp>
#include <callsign/ports/tables/purges.hpp>
#include <callsign/ports/tables/remotes.hpp>
#include <callsign/ports/tables/requests.hpp>
#include <callsign/ports/tables/sealed.hpp>
#include <callsign/ports/tables/series.hpp>
#include <callsign/ports/tables/slots.hpp>
#include <callsign/ports/tables/tasks.hpp>
#include <callsign/ports/tables/tokens.hpp>
#include <callsign/ports/tables/versions.hpp>
#include <callsign/ports/tables/webhooks.hpp>
#include <callsign/rules/rows/removal.hpp>

#include <array>

namespace callsign {
namespace {

// Maximum bytes that one step removes, plus one row: deleted data is overwritten, through the WAL.
constexpr std::size_t removed_bytes_max = std::size_t{4} << 20;

// Erases rows while `left`, a number of rows, is above zero.
template <class Index, std::size_t Parts>
void erase_some(write_tx& tx, range<Index, Parts> rows, std::int64_t& left) {
    for (const auto& each : tx.all(rows.limit(left).heads())) {
        tx.erase(each);
        --left;
    }
}

void remove_webhooks(write_tx& tx, account_id account, std::int64_t& left, std::int64_t&) {
    for (const auto& hook : tx.all(range_of<webhooks_by_account>(account).limit(left))) {
        erase_some(tx, range_of<deliveries_by_webhook>(hook->id), left);
        if (left == 0) return;
        tx.erase(hook);
        --left;
    }
}

// Removes the account's rows by an index whose keys begin with the account.
template <class Index>
void remove_by(write_tx& tx, account_id account, std::int64_t& left, std::int64_t&) {
    erase_some(tx, range_of<Index>(account), left);
}

void remove_versions(write_tx& tx, account_id account, std::int64_t& left, std::int64_t&) {
    std::size_t bytes = 0;
    const auto all = range_of<versions_by_seq>(account).limit(left).heads();
    tx.scan(all, [&](const row_of<version_head>& each) {
        tx.erase(each);
        --left;
        bytes += each->bytes;
        if (bytes >= removed_bytes_max) left = 0;
        return left > 0;
    });
}

// The table is not ordered by account: rows of all accounts after `row` are read.
void remove_sealed(write_tx& tx, account_id account, std::int64_t& left, std::int64_t& row) {
    std::size_t bytes = 0;
    const auto rest = range_of<sealed_by_place>().after(row).limit(left).heads();
    tx.scan(rest, [&](const row_of<sealed_link>& each) {
        row = each->place;
        --left;
        if (each->account != account) return true;
        bytes += each->bytes;
        tx.erase(each);
        if (bytes >= removed_bytes_max) left = 0;
        return left > 0;
    });
}

// As remove_sealed(). All of the account's slots are settled, and nothing adds another.
void remove_slots(write_tx& tx, account_id account, std::int64_t& left, std::int64_t& row) {
    tx.scan(range_of<slots_by_id>().after(slot_id{row}).limit(left), [&](const row_of<slot>& each) {
        row = each->id.value;
        if (each->account == account) tx.erase(each);
        return --left > 0;
    });
}

// As remove_sealed(). A task goes after its history.
void remove_tasks(write_tx& tx, account_id account, std::int64_t& left, std::int64_t& row) {
    std::size_t bytes = 0;
    const auto erase = [&](const auto& each) {
        tx.erase(each);
        bytes += each->bytes;
        left = bytes >= removed_bytes_max ? 0 : left - 1;
        return left > 0;
    };
    const auto rest = range_of<tasks_by_id>().after(task_id{row}).limit(left).heads();
    tx.scan(rest, [&](const row_of<task_head>& each) {
        if (each->account == account) {
            tx.scan(range_of<history_by_task>(each->id).limit(left).heads(), erase);
            if (left == 0) return false;
            erase(each);
        } else {
            --left;
        }
        row = each->id.value;
        return left > 0;
    });
}

// Requires: the account's tasks are removed.
void remove_series(write_tx& tx, account_id account, std::int64_t& left, std::int64_t&) {
    for (const auto& series : tx.all(range_of<series_by_account>(account).limit(left))) {
        for (const auto& counter : tx.all(range_of<counters_by_period>(series->id).limit(left))) {
            erase_some(tx, range_of<skipped_by_number>(counter->id), left);
            if (left == 0) return;
            tx.erase(counter);
            if (--left == 0) return;
        }
        tx.erase(series);
        if (--left == 0) return;
    }
    erase_some(tx, range_of<prefixes_by_name>(account), left);
}

// Rows that others refer to come after them. If `left` is 0 there may be more after `row`.
using part = void (*)(write_tx& tx, account_id account, std::int64_t& left, std::int64_t& row);
constexpr std::array parts{part{remove_webhooks},
                           part{remove_by<effects_by_account>},
                           part{remove_by<contests_by_task>},
                           part{remove_by<purges_by_task>},
                           part{remove_by<requests_by_key>},
                           part{remove_by<tokens_by_account>},
                           part{remove_by<remotes_by_account>},
                           part{remove_by<forks_by_place>},
                           part{remove_by<snapshots_by_account>},
                           part{remove_versions},
                           part{remove_sealed},
                           part{remove_by<devices_by_account>},
                           part{remove_slots},
                           part{remove_tasks},
                           part{remove_series}};

}  // namespace

std::optional<removal_place> remove_rows_of(write_tx& tx, account_id account,
                                            const removal_place& from, std::int64_t limit) {
    removal_place at = from;
    std::int64_t left = limit;
    for (; at.table < std::ssize(parts); at = {at.table + 1, 0}) {
        parts[static_cast<std::size_t>(at.table)](tx, account, left, at.row);
        if (left == 0) return at;
    }
    tx.erase(tx.expect<accounts_by_id>(account));
    return std::nullopt;
}

}  // namespace callsign
