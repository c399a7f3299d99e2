// A segment of a device's, on the chain of its managed account: product.md, section 6. Everything
// is decided on copies first; then it is written.

#include "chain_place.hpp"
#include "changes.hpp"

#include <callsign/rules/transform.hpp>

#include <algorithm>

namespace callsign::rules {
namespace {

// ---- deciding ----

// What the chain holds beyond what the device has; nullopt: more than it may have missed.
std::optional<std::vector<operation>> missed_since(read_tx& tx, account_id account,
                                                   chain_place place) {
    constexpr std::int64_t page = 100;
    std::vector<operation> missed = std::move(place.missing);
    std::int64_t seq = place.seq;
    for (;;) {
        auto versions = tx.versions(account, seq, page);
        for (version& v : versions) {
            std::move(v.operations.begin(), v.operations.end(), std::back_inserter(missed));
            seq = v.seq;
        }
        if (missed.size() > add_version::missed_operations_max) return std::nullopt;
        if (static_cast<std::int64_t>(versions.size()) < page) return missed;
    }
}

// Of what the device sent, what had an effect for it.
std::vector<operation> effective_for_device(std::vector<operation> sent,
                                            const std::vector<operation>& missed,
                                            touched_tasks& tasks) {
    const presence before = there_before(missed);
    return effective_only(std::move(sent), [&](const uuid& id) {
        const auto known = before.find(id);
        return known == before.end() ? tasks.is_there(id) : known->second;
    });
}

}  // namespace

add_version::answer apply(write_tx& tx, const add_version& c, const moment& m) {
    const auto sender = tx.find_device(c.client_id);
    if (!sender || sender->mode != account_mode::managed) return no_such_client{};
    if (sender->revoked_at) return device_revoked{};
    const account_id account = sender->account;

    const chain_head head = tx.head_of(account);
    const bool late = head.version != c.parent;
    std::vector<operation> missed;
    if (late) {
        auto place = place_of(tx, account, c.parent);
        if (!place) return add_version::unknown_parent{};
        auto since = missed_since(tx, account, std::move(*place));
        if (!since) return add_version::missed_too_much{};
        missed = std::move(*since);
    }
    touched_tasks tasks(tx, account);
    transformed_lists lists{std::move(missed), {}};
    lists.local = effective_for_device(c.operations, lists.server, tasks);
    if (late) lists = transform_lists(std::move(lists.server), std::move(lists.local));
    // All have an effect here too: the transform keeps it so. Were one without, it would do no one
    // any good on the chain.
    std::erase_if(lists.local, [&](const operation& o) { return !tasks.carry_out(o); });
    if (const auto grown = tasks.too_large()) return task_too_large{*grown};

    add_version::added done;
    done.late = late;
    const appended_changes appended = append_changes(tx, account, lists.local, tasks, m);
    done.numbered = appended.numbered;
    done.version = appended.version;
    if (late) {
        done.version = m.ids.next(m.now);
        tx.put_side_version(account, {done.version, appended.seq, m.now, std::move(lists.server)});
    }
    return done;
}

}  // namespace callsign::rules
