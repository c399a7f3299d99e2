#include <callsign/ports/tables/outbox.hpp>
#include <callsign/ports/tables/purges.hpp>
#include <callsign/ports/tables/tokens.hpp>
#include <callsign/ports/tables/webhooks.hpp>
#include <callsign/rules/rows/removal.hpp>

#include <array>

namespace callsign {
namespace {

// Erases what it comes to, at most `limit` rows; how many are left of these.
template <class Index, std::size_t Parts>
std::int64_t erase_some(write_tx& tx, range<Index, Parts> rows, std::int64_t limit) {
    for (const auto& each : tx.all(rows.limit(limit))) {
        tx.erase(each);
        --limit;
    }
    return limit;
}

// False: there may be more.
bool remove_webhooks(write_tx& tx, account_id account, std::int64_t limit) {
    for (const auto& hook : tx.all(range_of<webhooks_by_account>(account).limit(limit))) {
        limit = erase_some(tx, range_of<deliveries_by_webhook>(hook->id), limit);
        if (limit-- <= 0) return false;
        tx.erase(hook);
    }
    return limit > 0;
}

// All of an account's by this index, whose keys begin with it. False: there may be more.
template <class Index>
bool remove_by(write_tx& tx, account_id account, std::int64_t limit) {
    return erase_some(tx, range_of<Index>(account), limit) > 0;
}

using remove_some = bool (*)(write_tx& tx, account_id account, std::int64_t limit);

// Those that others refer to come after them.
constexpr std::array parts{remove_some{remove_webhooks}, remove_some{remove_by<effects_by_account>},
                           remove_some{remove_by<contests_by_task>},
                           remove_some{remove_by<purges_by_task>},
                           remove_some{remove_by<tokens_by_account>}};

}  // namespace

std::optional<removal_place> remove_rows_of(write_tx& tx, account_id account,
                                            const removal_place& from, std::int64_t limit) {
    constexpr auto count = std::ssize(parts);
    if (from.table < count) {
        const bool is_done = parts[static_cast<std::size_t>(from.table)](tx, account, limit);
        return is_done ? removal_place{from.table + 1, 0} : from;
    }
    auto next = tx.remove_some(account, {from.table - count, from.row}, limit);
    if (next) next->table += count;
    return next;
}

}  // namespace callsign
