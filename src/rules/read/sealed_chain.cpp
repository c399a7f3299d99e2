#include "snapshot_place.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/sealed.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <iterator>

namespace callsign::rules {
namespace {

// Explains a missing chain or snapshot: the account may be managed by now.
bool is_managed(read_tx& tx, account_id account) {
    const auto found = accounts::find(tx, account);
    return found && found->mode == account_mode::managed;
}

bool has_room(const reserve_bytes& reserve, std::size_t bytes) {
    return !reserve || reserve(bytes);
}

}  // namespace

find_opaque_account::answer read(read_tx& tx, const find_opaque_account& q) {
    const auto owner = accounts::find(tx, q.name);
    if (!owner) return no_such_account{};
    if (owner->mode != account_mode::opaque) return account_is_managed{};
    auto clients = devices::of(tx, owner->id);
    if (clients.size() != 1) {
        throw_damaged("accounts", owner->id.value, "an opaque account has one client id");
    }
    return find_opaque_account::found{*owner, std::move(clients.front()),
                                      accounts::head_of(tx, owner->id)};
}

find_sealed_child::answer read(read_tx& tx, const find_sealed_child& q) {
    const auto link = sealed::find_link(tx, q.account, q.parent);
    const std::size_t bytes = link ? link->bytes : 0;
    if (bytes > q.bytes_max) return find_sealed_child::too_large{bytes};
    if (!has_room(q.reserve, bytes)) return no_room{};
    if (auto child = sealed::find_child(tx, q.account, q.parent)) return std::move(*child);
    const chain_head head = sealed_head_of(tx, q.account);
    if (head.version.is_nil() || head.version == q.parent) return up_to_date{};
    if (is_managed(tx, q.account)) return account_changed{};
    return unknown_version{};
}

find_sealed_snapshot::answer read(read_tx& tx, const find_sealed_snapshot& q) {
    if (!has_room(q.reserve, snapshots::size_of(tx, q.account))) return no_room{};
    if (auto found = snapshots::find(tx, q.account)) return std::move(*found);
    if (is_managed(tx, q.account)) return account_changed{};
    return find_sealed_snapshot::none{};
}

read_sealed_versions::answer read(read_tx& tx, const read_sealed_versions& q) {
    read_sealed_versions::answer found;
    std::size_t bytes = 0;
    chain_head at = q.after;
    for (std::int64_t n = 0;
         n < read_sealed_versions::versions_max && bytes < read_sealed_versions::bytes_max; ++n) {
        auto next = at.seq == 0 ? sealed::find_first(tx, q.account)
                                : sealed::find_child(tx, q.account, at.version);
        if (!next) break;
        if (at.seq == 0 && !next->parent.is_nil()) found.before = snapshots::find(tx, q.account);
        at = {next->seq, next->id};
        bytes += next->segment.size();
        found.versions.push_back(std::move(*next));
    }
    return found;
}

// The last sealed version of a managed account is removed last, so it marks unfinished removals.
find_half_managed::answer read(read_tx& tx, const find_half_managed& q) {
    const auto has_rest = [&](const account& a) {
        if (a.state == account_state::removing) return false;
        if (a.mode == account_mode::opaque) return !versions::some(tx, a.id, 0, 1).empty();
        const std::int64_t sealed = accounts::head_of(tx, a.id).sealed_seq;
        if (sealed == 0) return false;
        const auto last = versions::some(tx, a.id, sealed - 1, 1);
        return !last.empty() && sealed::find_child(tx, a.id, last.front().parent).has_value();
    };
    find_half_managed::answer found;
    const auto some = accounts::some(tx, q.after, q.limit);
    if (std::ssize(some) == q.limit) found.next = some.back().id;
    for (const account& a : some) {
        if (!has_rest(a)) continue;
        found.first = {a.id, a.mode};
        found.next = a.id;
        break;
    }
    return found;
}

}  // namespace callsign::rules
