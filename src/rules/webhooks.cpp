// Creates, edits and removes webhooks, and records their progress.

#include "once.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/webhooks.hpp>
#include <callsign/rules/rules.hpp>

#include <utility>

namespace callsign::rules {
namespace {

void begin_at(webhook& w, const webhook_start& start) {
    w.after = start.after;
    w.mark = start.mark;
}

}  // namespace

create_webhook::answer apply(write_tx& tx, const create_webhook& c, const moment& m) {
    const auto owner = accounts::find(tx, c.account);
    if (!owner) return no_such_account{};
    if (owner->mode == account_mode::opaque) return account_is_opaque{};
    if (auto known = repeated_webhook<create_webhook::answer>(tx, c.account, c.once)) {
        return *std::move(known);
    }
    if (webhooks::of(tx, c.account).size() >= c.count_max) return create_webhook::too_many{};
    if (!has_room_to_keep(tx, c.account, c.once, m)) return account_full{};
    webhook made{.id = {},
                 .account = c.account,
                 .uuid = c.uuid,
                 .url = c.url,
                 .filter = c.filter,
                 .sealed_secret = c.sealed_secret,
                 .after = c.start.after,
                 .mark = c.start.mark,
                 .created_at = m.now};
    made.id = webhooks::put(tx, made);
    keep_outcome(tx, c.account, c.once, made.id.value, 0, m);
    m.tell(events::webhook_changed{c.account, c.uuid});
    return made;
}

edit_webhook::answer apply(write_tx& tx, const edit_webhook& c, const moment& m) {
    if (auto known = repeated_webhook<edit_webhook::answer>(tx, c.account, c.once)) {
        return *std::move(known);
    }
    auto found = webhooks::find(tx, c.account, c.uuid);
    if (!found) return no_such_webhook{};
    if (c.secrets && c.secrets->edits != found->edits) return edit_webhook::edited_meanwhile{};
    if (!has_room_to_keep(tx, c.account, c.once, m)) return account_full{};
    if (c.url) found->url = *c.url;
    if (c.filter) found->filter = *c.filter;
    if (c.secrets) {
        found->sealed_secret = c.secrets->sealed_secrets;
        found->former_until = c.secrets->former_until;
    }
    if (c.start) begin_at(*found, *c.start);
    if (c.enabled && !*c.enabled && !found->disabled) found->disabled = webhook_end::by_request;
    if (c.enabled && *c.enabled) {
        found->disabled.reset();
        found->failures = 0;
    }
    ++found->edits;
    webhooks::update(tx, *found);
    keep_outcome(tx, c.account, c.once, found->id.value, 0, m);
    m.tell(events::webhook_changed{c.account, c.uuid});
    return *std::move(found);
}

remove_webhook::answer apply(write_tx& tx, const remove_webhook& c, const moment& m) {
    const auto again = [](const kept_request&) { return replayed<remove_webhook::removed>{}; };
    if (auto known = answer_if_known<remove_webhook::answer>(tx, c.account, c.once, again)) {
        return *std::move(known);
    }
    const auto found = webhooks::find(tx, c.account, c.uuid);
    if (!found) return no_such_webhook{};
    webhooks::remove(tx, found->id);
    keep_outcome(tx, c.account, c.once, found->id.value, 0, m);
    m.tell(events::webhook_changed{c.account, c.uuid});
    return remove_webhook::removed{};
}

settle_delivery::answer apply(write_tx& tx, const settle_delivery& c, const moment& m) {
    auto found = webhooks::find(tx, c.account, c.uuid);
    if (!found || found->edits != c.edits || found->disabled) return settle_delivery::superseded{};
    if (c.reached) begin_at(*found, *c.reached);
    if (c.attempt) {
        found->failures = c.attempt->delivered ? 0 : found->failures + 1;
        if (found->failures >= c.failures_max) found->disabled = webhook_end::failures;
        webhook_delivery logged = *c.attempt;
        logged.at = m.now;
        webhooks::put_delivery(tx, found->id, logged);
    }
    if (c.disable) found->disabled = c.disable;
    webhooks::update(tx, *found);
    return *std::move(found);
}

}  // namespace callsign::rules
