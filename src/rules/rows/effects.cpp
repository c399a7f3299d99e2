#include <callsign/ports/tables/outbox.hpp>
#include <callsign/rules/rows/effects.hpp>

#include <algorithm>
#include <utility>

namespace callsign::effects {

std::optional<effect> find(read_tx& tx, account_id account, const uuid& task, effect_kind kind) {
    return copy_of(tx.get<effects_by_task>(task, account, kind));
}

void visit(read_tx& tx, account_id account, effect_id after, const visitor& show) {
    tx.scan(range_of<effects_by_account>(account).after(after),
            [&](const row_of<effect>& each) { return show(effect(*each)); });
}

outbox_tally tally(read_tx& tx, account_id account) {
    outbox_tally all;
    tx.scan(range_of<effects_by_account>(account), [&](const row_of<effect>& each) {
        ++(each->kind == effect_kind::creation ? all.creations : all.keys);
        all.oldest = std::min(all.oldest.value_or(each->created_at), each->created_at);
        return true;
    });
    return all;
}

effect_id put(write_tx& tx, effect made) {
    tx.raise_last_moment(made.created_at);
    made.id = effect_id{tx.draw(drawn_id::effect)};
    return tx.put(std::move(made))->id;
}

void update(write_tx& tx, const effect& now) {
    tx.edit(tx.expect<effects_by_id>(now.id), [&](effect& e) {
        e.attempts = now.attempts;
        e.parent = now.parent;
    });
}

void remove(write_tx& tx, effect_id id) {
    tx.erase(tx.expect<effects_by_id>(id));
}

key_contest find_contest(read_tx& tx, account_id account, const uuid& task) {
    const auto found = tx.get<contests_by_task>(account, task);
    return found ? found->contest : key_contest{};
}

void put_contest(write_tx& tx, account_id account, const uuid& task, const key_contest& now) {
    tx.raise_last_moment(now.last_at);
    tx.put(tx.get<contests_by_task>(account, task), {account, task, now});
}

}  // namespace callsign::effects
