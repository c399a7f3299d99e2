// Renames, disables, deletes, restores and removes accounts.

#include "resolve.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/actions.hpp>
#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/removal.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rules.hpp>

#include <string>
#include <vector>

namespace callsign::rules {
namespace {

using place = remove_deleted::place;

// Number of oldest pending slots that one step reads; if they do not decide, a later step does.
constexpr std::int64_t slots_looked_at = 500;
// More than one, so that an account that cannot be removed yet does not delay others.
constexpr std::int64_t accounts_looked_at = 16;

// Returns whether a pending slot from before the deletion may be the account's; it gets none
// afterwards.
bool may_have_open_slots(write_tx& tx, const account& a) {
    const auto oldest =
        slots::some(tx, slot_id{}, slots_looked_at, slot_state::pending, std::nullopt);
    for (const slot& s : oldest) {
        if (s.created_at > *a.deleted_at) return false;
        if (s.account == a.id) return true;
    }
    return std::ssize(oldest) == slots_looked_at;
}

// Removes outbox entries, up to `limit`, and fails their slots. Returns true if none is left.
bool give_up_effects(write_tx& tx, const account& a, std::int64_t limit, const moment& m) {
    std::vector<effect> some;
    effects::visit(tx, a.id, effect_id{}, [&](effect&& e) {
        some.push_back(std::move(e));
        return std::ssize(some) < limit;
    });
    for (const effect& e : some) {
        effects::remove(tx, e.id);
        if (e.slot && slots::fail(tx, *e.slot, failure_reason::not_delivered, m.now)) {
            m.tell(events::slot_settled{a.id, *e.slot, slot_state::failed});
        }
    }
    return std::ssize(some) < limit;
}

// Returns false if the account still has outbox entries or pending slots.
bool begin_to_go(write_tx& tx, account a, const remove_deleted& c, const moment& m) {
    if (a.is_remote && !give_up_effects(tx, a, c.limit, m)) return false;
    if (may_have_open_slots(tx, a)) return false;
    if (a.is_remote) {
        remotes::remove(tx, a.id);
        m.tell(events::remote_changed{a.id});
    }
    const actor itself;
    actions::put(tx, {{}, m.now, itself, "account-removed", a.id, a.name, {}});
    a.state = account_state::removing;
    // Not a valid name, so that it cannot clash.
    a.name = "(removed " + std::to_string(a.id.value) + ")";
    accounts::update(tx, a);
    m.tell(events::account_state_changed{a.id});
    return true;
}

}  // namespace

edit_account::answer apply(write_tx& tx, const edit_account& c, const moment& m) {
    auto found = resolve(tx, c.account);
    if (!found) return no_such_account{};
    if (c.name && *c.name != found->name) {
        if (accounts::find(tx, *c.name)) return name_taken{};
        found->name = *c.name;
        m.tell(events::account_renamed{found->id});
    }
    const bool is_open = found->state == account_state::active;
    if (c.disabled && *c.disabled == is_open) {
        found->state = *c.disabled ? account_state::disabled : account_state::active;
        found->deleted_at.reset();
        m.tell(events::account_state_changed{found->id});
    }
    accounts::update(tx, *found);
    return accounts::shown(tx, *std::move(found));
}

delete_account::answer apply(write_tx& tx, const delete_account& c, const moment& m) {
    auto found = resolve(tx, c.account);
    if (!found) return no_such_account{};
    if (found->state != account_state::deleted) {
        found->state = account_state::deleted;
        found->deleted_at = m.now;
        accounts::update(tx, *found);
        m.tell(events::account_state_changed{found->id});
    }
    return accounts::shown(tx, *std::move(found));
}

remove_deleted::answer apply(write_tx& tx, const remove_deleted& c, const moment& m) {
    remove_deleted::answer done;
    std::optional<place> at = c.from;
    for (const account& a :
         accounts::deleted(tx, m.stamped_before(c.grace), at ? 0 : accounts_looked_at)) {
        if (a.state == account_state::removing || begin_to_go(tx, a, c, m)) {
            at = place{a.id, {}};
            break;
        }
    }
    if (!at) return done;
    const auto known = accounts::find(tx, at->account);
    if (!known || known->state != account_state::removing) return done;
    if (const auto next = remove_rows_of(tx, at->account, at->at, c.limit)) {
        done.next = place{at->account, *next};
        return done;
    }
    ++done.removed;
    m.tell(events::account_removed{at->account});
    return done;
}

}  // namespace callsign::rules
