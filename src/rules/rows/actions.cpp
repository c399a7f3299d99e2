#include <callsign/ports/tables/actions.hpp>
#include <callsign/rules/rows/actions.hpp>

#include <utility>

namespace callsign::actions {
namespace {

// Behind the last of them.
std::int64_t next_place(write_tx& tx, account_id actor) {
    const auto last = tx.all(range_of<actions_by_actor>(actor).descending().limit(1));
    return last.empty() ? 1 : last.front()->place.value_or(0) + 1;
}

}  // namespace

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
    tx.at(made.at);
    made.id = action_id{tx.draw(drawn_id::action)};
    action_row row{std::move(made)};
    if (const auto actor = row.what.by.account) {
        row.place = next_place(tx, *actor);
        const std::int64_t gone_to = *row.place - account_actions_kept;
        tx.scan(range_of<actions_by_actor>(*actor), [&](const row_of<action_row>& oldest) {
            const bool is_gone = oldest->place <= gone_to;
            if (is_gone) tx.erase(oldest);
            return is_gone;
        });
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
