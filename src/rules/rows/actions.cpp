#include "latest.hpp"

#include <callsign/ports/tables/actions.hpp>
#include <callsign/rules/rows/actions.hpp>

#include <utility>

namespace callsign::actions {

std::vector<admin_action> list(read_tx& tx, std::optional<action_id> before, std::int64_t limit,
                               std::optional<account_id> about) {
    std::vector<admin_action> some;
    const auto add = [&](auto range) {
        range.descending().limit(limit);
        if (before) range.after(*before);
        for (const auto& each : tx.all(range)) some.push_back(each->what);
    };
    if (about) {
        add(range_of<actions_by_account>(*about));
    } else {
        add(range_of<actions_by_id>());
    }
    return some;
}

void put(write_tx& tx, admin_action made) {
    tx.raise_last_moment(made.at);
    made.id = action_id{tx.draw(drawn_id::action)};
    action_row row{std::move(made)};
    if (const auto actor = row.what.by.account) {
        row.place = take_place(tx, range_of<actions_by_actor>(*actor), account_actions_kept);
    }
    tx.put(std::move(row));
}

std::int64_t forget(write_tx& tx, time_point before, std::int64_t limit) {
    std::int64_t gone = 0;
    tx.scan(range_of<actions_by_id>().limit(limit), [&](const row_of<action_row>& oldest) {
        if (oldest->what.at >= before) return false;
        tx.erase(oldest);
        ++gone;
        return true;
    });
    return gone;
}

}  // namespace callsign::actions
