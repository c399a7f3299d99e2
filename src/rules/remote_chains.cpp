// Changes, halts and moves remote accounts.

#include "registration.hpp"
#include "unnumbered.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rules.hpp>

#include <algorithm>
#include <tuple>

namespace callsign::rules {

suspend_effect::answer apply(write_tx& tx, const suspend_effect& c, const moment&) {
    if (!remotes::find(tx, c.account)) return no_remote{};
    std::optional<effect> found;
    effects::visit(tx, c.account, effect_id{c.effect.value - 1}, [&](effect&& e) {
        if (e.id == c.effect) found = std::move(e);
        return false;
    });
    if (found && found->attempts < c.attempts) {
        found->attempts = c.attempts;
        effects::update(tx, *found);
    }
    return std::monostate{};
}

halt_remote::answer apply(write_tx& tx, const halt_remote& c, const moment& m) {
    auto remote = remotes::find(tx, c.account);
    if (!remote) return no_remote{};
    const auto asked_by = [](const remote_chain& r) {
        return std::tie(r.url, r.client_id, r.sealed_key, r.cursor);
    };
    if (asked_by(*remote) != asked_by(c.judged)) return halt_remote::superseded{};
    remote->halted = c.why;
    remotes::update(tx, *remote);
    m.tell(events::remote_changed{c.account});
    return std::move(*remote);
}

edit_remote::answer apply(write_tx& tx, const edit_remote& c, const moment& m) {
    auto remote = remotes::find(tx, c.account);
    if (!remote) return no_remote{};
    const bool has_lost_history = remote->halted == remote_halt::history_lost;
    if (has_lost_history && !c.accept_loss) return edit_remote::has_lost_versions{};
    if (c.url) remote->url = *c.url;
    if (c.sealed_key) remote->sealed_key = *c.sealed_key;
    if (has_lost_history) {
        // Pull from the remote's snapshot or its first version again: its state is authoritative.
        remote->cursor = remote->before = remote->partial = {};
        remote->partial_operations = 0;
        if (remote->moving) remote->moving = moving_tasks{};
    }
    remote->halted = remote_halt::none;
    remotes::update(tx, *remote);
    m.tell(events::remote_changed{c.account});
    return std::move(*remote);
}

move_to_remote::answer apply(write_tx& tx, const move_to_remote& c, const moment& m) {
    const auto owner = accounts::find(tx, c.account);
    if (!owner) return no_such_account{};
    if (owner->mode == account_mode::opaque) return account_is_opaque{};
    if (const auto remote = remotes::find(tx, c.account)) {
        const bool is_there = remote->client_id == c.client_id && remote->url == c.url;
        if (is_there) return move_to_remote::moving{};
        return move_to_remote::already_remote{};
    }
    if (is_client_id_remote(tx, c.client_id)) return client_id_taken{};
    const auto devices = devices::of(tx, c.account);
    const auto active =
        std::ranges::count_if(devices, [](const device& d) { return !d.revoked_at; });
    if (active > 0) return move_to_remote::has_devices{static_cast<std::size_t>(active)};
    const bool has_them = !c.behind.is_nil();
    if (has_them && accounts::head_of(tx, c.account).version != c.behind)
        return move_to_remote::has_changed{};
    for (const series& s : all_series::of(tx, c.account)) {
        if (has_unnumbered(tx, s)) return series_held{s.prefix};
    }
    remote_chain remote{.account = c.account,
                        .url = c.url,
                        .client_id = c.client_id,
                        .sealed_key = c.sealed_key,
                        .cursor = c.behind};
    if (!has_them) remote.moving = moving_tasks{};
    remotes::put(tx, remote);
    m.tell(events::remote_changed{c.account});
    return move_to_remote::moving{};
}

move_to_local::answer apply(write_tx& tx, const move_to_local& c, const moment& m) {
    const auto remote = remotes::find(tx, c.account);
    if (!remote) return no_remote{};
    if (remote->cursor != c.cursor || !remote->partial.is_nil()) return cursor_mismatch{};
    const outbox_tally waiting = effects::tally(tx, c.account);
    if (waiting.creations + waiting.keys > 0) return move_to_local::not_settled{waiting};
    remotes::remove(tx, c.account);
    m.tell(events::remote_changed{c.account});
    return move_to_local::moved{};
}

}  // namespace callsign::rules
