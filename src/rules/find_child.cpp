// What a device of a managed account reads: the version after the one it has, or everything at
// once.

#include "chain_place.hpp"

namespace callsign::rules {

child find_child(read_tx& tx, account_id account, const uuid& parent) {
    if (tx.head_of(account).version == parent) return up_to_date{};
    const auto place = place_of(tx, account, parent);
    if (!place) return unknown_version{};
    const std::int64_t before = place->side ? place->seq - 1 : place->seq;
    auto next = tx.versions(account, before, 1);
    if (next.size() != 1) throw_damaged("accounts", account.value, "its chain has a hole");
    if (!place->side) return next_version{next[0].id, std::move(next[0].operations)};
    auto missed = missed_at(tx, account, *place, place->seq);
    if (!missed) return add_version::missed_too_much{};
    return next_version{next[0].id, std::move(*missed)};
}

std::optional<tasks_at> read_tasks(read_tx& tx, account_id account, std::size_t bytes_max) {
    constexpr std::int64_t page = 1000;
    tasks_at found;
    found.version = tx.head_of(account).version;
    std::size_t bytes = 0;
    for (const series& from : tx.series_of(account)) {
        for (const std::string& period : tx.periods_of(from.id)) {
            std::int64_t last = 0;
            for (bool more = true; more;) {
                auto some = tx.numbered_tasks(from.id, period, last, page);
                more = static_cast<std::int64_t>(some.size()) == page;
                for (task& t : some) {
                    last = t.numbered->number;
                    if (t.purged) continue;
                    for (const auto& [name, value] : t.attributes) {
                        bytes += name.size() + value.size();
                    }
                    found.tasks.emplace(t.uuid, std::move(t.attributes));
                }
                if (bytes > bytes_max) return std::nullopt;
            }
        }
    }
    return found;
}

}  // namespace callsign::rules
