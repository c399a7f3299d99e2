#include <callsign/domain/request_key.hpp>
#include <callsign/ports/tables/slots.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/slots.hpp>

#include <utility>

namespace callsign::slots {
namespace {

// Returns false if the slot does not exist or its state is not `as_wanted`.
template <class As, class Move>
bool move_if(write_tx& tx, slot_id id, const As& as_wanted, const Move& move) {
    const auto now = tx.get<slots_by_id>(id);
    if (!now || !as_wanted(now->state)) return false;
    tx.edit(now, move);
    return true;
}

template <class Move>
bool settle(write_tx& tx, slot_id id, time_point now, const Move& move) {
    account_id owner;
    std::size_t charged = 0;
    const bool is_settled = move_if(tx, id, is_open, [&](slot& s) {
        move(s);
        s.settled_at = now;
        owner = s.account;
        if (s.expires) charged = size_of_outcome(s.key);
    });
    if (is_settled) tx.raise_last_moment(now);
    if (charged > 0) accounts::add_stored(tx, owner, charged, 0);
    return is_settled;
}

[[noreturn]] void throw_changed(slot_id id) {
    throw_damaged("slots", id.value, "it is not as it was read");
}

}  // namespace

std::optional<slot> find(read_tx& tx, account_id account, std::string_view key) {
    return copy_of(tx.get<slots_by_key>(account, key));
}

std::optional<slot> find(read_tx& tx, slot_id id) {
    return copy_of(tx.get<slots_by_id>(id));
}

std::vector<slot> some(read_tx& tx, slot_id after, std::int64_t limit,
                       std::optional<slot_state> state, std::optional<account_id> account) {
    std::vector<slot> found;
    if (limit <= 0) return found;
    const auto take = [&](row_of<slot> each) {
        const bool is_wanted =
            (!state || each->state == *state) && (!account || each->account == *account);
        if (is_wanted) found.push_back(taken(std::move(each)));
        return std::ssize(found) < limit;
    };
    if (state && is_open(*state)) {
        tx.scan(range_of<slots_open>().after(after), take);
    } else if (state == slot_state::failed) {
        tx.scan(range_of<slots_expiring>().after(after), take);
    } else {
        tx.scan(range_of<slots_by_id>().after(after), take);
    }
    return found;
}

std::vector<slot> expiring(read_tx& tx, slot_id after, std::int64_t limit) {
    return tx.copies(range_of<slots_expiring>().after(after).limit(limit));
}

std::vector<slot> waiting_for(read_tx& tx, account_id account, const uuid& task) {
    return tx.copies(range_of<slots_waiting>(task, account));
}

slot_id put(write_tx& tx, slot made) {
    tx.raise_last_moment(made.created_at);
    made.id = slot_id{tx.draw(drawn_id::slot)};
    return tx.put(std::move(made))->id;
}

void count_attempt(write_tx& tx, slot_id id) {
    if (!move_if(tx, id, is_open, [](slot& s) { ++s.attempts; })) throw_changed(id);
}

bool begin_flight(write_tx& tx, slot_id id) {
    const auto is_pending = [](slot_state state) { return state == slot_state::pending; };
    return move_if(tx, id, is_pending, [](slot& s) { s.state = slot_state::in_flight; });
}

bool commit(write_tx& tx, slot_id id, task_id task, bool created, time_point now) {
    return settle(tx, id, now, [&](slot& s) {
        s.state = slot_state::committed;
        s.task = task;
        s.created = created;
        s.expires = !created;
    });
}

bool fail(write_tx& tx, slot_id id, failure_reason reason, time_point now) {
    return settle(tx, id, now, [&](slot& s) {
        s.state = slot_state::failed;
        s.reason = reason;
        s.expires = true;
    });
}

void drop_fingerprint(write_tx& tx, slot_id id) {
    const auto now = tx.get<slots_by_id>(id);
    if (!now || now->state != slot_state::committed) throw_changed(id);
    tx.edit(now, [](slot& s) { s.fingerprint = {}; });
}

void forget(write_tx& tx, slot_id id) {
    const auto now = tx.get<slots_by_id>(id);
    if (!now || !now->expires) throw_changed(id);
    accounts::add_stored(tx, now->account, 0, size_of_outcome(now->key));
    tx.erase(now);
}

}  // namespace callsign::slots
