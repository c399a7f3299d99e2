#include <callsign/ports/tables/purges.hpp>
#include <callsign/rules/rows/purges.hpp>

namespace callsign::purges {

std::vector<purge> of_next(read_tx& tx, account_id after, std::int64_t limit) {
    std::vector<purge> some;
    tx.scan(range_of<purges_by_task>().after(after).limit(limit), [&](const row_of<purge>& each) {
        if (!some.empty() && each->account != some.front().account) return false;
        some.push_back(*each);
        return true;
    });
    return some;
}

void put(write_tx& tx, const purge& made) {
    const auto was = tx.get<purges_by_task>(made.account, made.task);
    if (!was || was->through < made.through) tx.put(was, made);
}

void remove(write_tx& tx, const purge& done) {
    const auto found = tx.get<purges_by_task>(done.account, done.task);
    if (found && found->through <= done.through) tx.erase(found);
}

}  // namespace callsign::purges
