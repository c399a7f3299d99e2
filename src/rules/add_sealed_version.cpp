#include "registration.hpp"
#include "room.hpp"
#include "snapshot_place.hpp"

#include <callsign/ports/tables/devices.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/sealed.hpp>

namespace callsign::rules {
namespace {

std::optional<snapshot_age> age_of(write_tx& tx, account_id account, const chain_head& head,
                                   time_point now) {
    const auto mark = snapshots::find_mark(tx, account);
    if (!mark) return std::nullopt;
    return snapshot_age{now - mark->taken_at, head.seq - mark->taken_seq};
}

}  // namespace

add_sealed_version::answer apply(write_tx& tx, const add_sealed_version& c, const moment& m) {
    const auto known = tx.get<devices_by_client>(c.client_id);
    if (!known && !c.may_register) return no_such_client{};
    if (known) {
        const auto owner = tx.expect<accounts_by_id>(known->account);
        if (owner->mode != account_mode::opaque) return account_changed{};
        const chain_head head = sealed_head_of(tx, known->account);
        if (!head.version.is_nil() && head.version != c.parent) {
            return add_sealed_version::expected_parent{known->account, head.version};
        }
        if (!has_room(tx, known->account, c.segment.size(), m)) return account_full{};
    }
    const account_id account = known ? known->account : registered(tx, c.client_id, m);
    add_sealed_version::added done{account, m.ids.next(m.now),
                                   age_of(tx, account, accounts::head_of(tx, account), m.now)};
    const auto seq = sealed::append(tx, account, done.version, c.parent, m.now, c.segment);
    m.tell(events::version_appended{account, seq});
    return done;
}

}  // namespace callsign::rules
