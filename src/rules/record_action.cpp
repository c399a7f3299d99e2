// Writes the audit log.

#include "resolve.hpp"

#include <callsign/rules/rows/actions.hpp>
#include <callsign/rules/rules.hpp>

#include <string>
#include <utility>

namespace callsign::rules {
namespace {

// Writes the entries of one command.
class action_log {
  public:
    action_log(write_tx& tx, const actor& by, const moment& m) : tx_(tx), by_(by), now_(m.now) {}

    void put(std::string what, const account& about, std::string subject = {}) {
        put(std::move(what), about.id, about.name, std::move(subject));
    }
    void put(std::string what, const account_ref& about, std::string subject = {}) {
        const auto found = resolve(tx_, about);
        if (found) put(std::move(what), *found, std::move(subject));
    }
    void put_of_server(std::string what, std::string subject = {}) {
        put(std::move(what), std::nullopt, {}, std::move(subject));
    }

  private:
    void put(std::string what, std::optional<account_id> account, std::string name,
             std::string subject) {
        actions::put(
            tx_, {{}, now_, by_, std::move(what), account, std::move(name), std::move(subject)});
    }

    write_tx& tx_;
    const actor& by_;
    const time_point now_;
};

void tell_of(action_log& log, std::string what, const token& t) {
    std::string subject =
        t.name + " (" + std::to_string(t.id.value) + ", " + std::string(to_string(t.scope)) + ")";
    if (!t.account) return log.put_of_server(std::move(what), std::move(subject));
    log.put(std::move(what), account_ref(*t.account), std::move(subject));
}

// ---- one overload for each recorded command; others are not recorded ----

template <class Command>
void tell(action_log& /*unused*/, const Command& /*unused*/,
          const typename Command::answer& /*unused*/) {}

void tell(action_log& log, const create_account& c, const create_account::answer& done) {
    const auto* const made = std::get_if<account>(&done);
    if (made == nullptr) return;
    log.put("account-created", *made, c.remote ? c.prefix + " at " + c.remote->url : c.prefix);
}

void tell(action_log& log, const edit_account& c, const edit_account::answer& done) {
    const auto* const now = std::get_if<account>(&done);
    if (now == nullptr) return;
    const auto* const before = std::get_if<std::string>(&c.account);
    if (c.name) log.put("account-renamed", *now, before ? "from " + *before : std::string());
    if (c.disabled) log.put(*c.disabled ? "account-disabled" : "account-enabled", *now);
}

void tell(action_log& log, const delete_account& /*unused*/, const delete_account::answer& done) {
    if (const auto* const gone = std::get_if<account>(&done)) log.put("account-deleted", *gone);
}

void tell(action_log& log, const create_token& /*unused*/, const create_token::answer& done) {
    const auto* const made = std::get_if<token>(&done);
    if (made != nullptr) tell_of(log, "token-created", *made);
}

void tell(action_log& log, const revoke_token& /*unused*/, const revoke_token::answer& done) {
    const auto* const revoked = std::get_if<token>(&done);
    if (revoked != nullptr) tell_of(log, "token-revoked", *revoked);
}

void tell(action_log& log, const create_device& c, const create_device::answer& done) {
    if (std::holds_alternative<device>(done)) log.put("device-created", c.account, c.name);
}

void tell(action_log& log, const revoke_device& c, const revoke_device::answer& done) {
    const auto* const revoked = std::get_if<device>(&done);
    if (revoked != nullptr) log.put("device-revoked", c.account, revoked->name);
}

void tell(action_log& log, const create_series& c, const create_series::answer& done) {
    const auto* const made = std::get_if<series>(&done);
    if (made != nullptr) log.put("series-created", c.account, made->prefix);
}

void tell(action_log& log, const edit_series& c, const edit_series::answer& done) {
    const auto* const now = std::get_if<series>(&done);
    if (now == nullptr) return;
    const bool is_renamed = now->prefix != c.named;
    log.put("series-changed", c.account,
            is_renamed ? now->prefix + ", named as " + c.named : now->prefix);
}

void tell(action_log& log, const resume_series& c, const resume_series::answer& done) {
    const auto* const now = std::get_if<series>(&done);
    if (now != nullptr) log.put("series-resumed", c.account, now->prefix);
}

void tell(action_log& log, const create_webhook& c, const create_webhook::answer& done) {
    const auto* const made = std::get_if<webhook>(&done);
    if (made != nullptr) log.put("webhook-created", c.account, to_string(made->uuid));
}

void tell(action_log& log, const edit_webhook& c, const edit_webhook::answer& done) {
    const auto* const now = std::get_if<webhook>(&done);
    if (now != nullptr) log.put("webhook-changed", c.account, to_string(now->uuid));
}

void tell(action_log& log, const remove_webhook& c, const remove_webhook::answer& done) {
    if (!std::holds_alternative<no_such_webhook>(done)) {
        log.put("webhook-removed", c.account, to_string(c.uuid));
    }
}

void tell(action_log& log, const manage_account& c, const manage_account::answer& done) {
    const auto* const managed = std::get_if<manage_account::managed>(&done);
    if (managed == nullptr) return;
    log.put("account-managed", c.account, std::to_string(managed->tasks) + " tasks");
}

void tell(action_log& log, const import_tasks& c, const import_tasks::answer& done) {
    const auto* const imported = std::get_if<import_tasks::done>(&done);
    if (c.check_only || imported == nullptr) return;
    const std::int64_t tasks = imported->imported + imported->completed;
    if (tasks > 0) log.put("tasks-imported", c.account, std::to_string(tasks) + " tasks");
}

void tell(action_log& log, const import_numbers& c, const import_numbers::answer& done) {
    if (c.check_only || !std::holds_alternative<import_numbers::done>(done)) return;
    log.put("numbers-imported", c.account, std::to_string(c.rows.size()) + " numbers");
}

void tell(action_log& log, const register_client& /*unused*/, const register_client::answer& done) {
    log.put("client-imported", done.account);
}

void tell(action_log& log, const edit_remote& c, const edit_remote::answer& done) {
    const auto* const now = std::get_if<remote_chain>(&done);
    if (now == nullptr) return;
    log.put("remote-changed", c.account, c.accept_loss ? now->url + ", loss accepted" : now->url);
}

void tell(action_log& log, const move_to_remote& c, const move_to_remote::answer& done) {
    if (std::holds_alternative<move_to_remote::moving>(done))
        log.put("account-moves", c.account, c.url);
}

void tell(action_log& log, const move_to_local& c, const move_to_local::answer& done) {
    if (std::holds_alternative<move_to_local::moved>(done))
        log.put("account-moved-here", c.account);
}

void tell(action_log& log, const note_action& c, const note_action::answer& /*unused*/) {
    if (c.account.empty()) return log.put_of_server(c.what, c.subject);
    log.put(c.what, account_ref(c.account), c.subject);
}

}  // namespace

// record_action() writes the entry.
note_action::answer apply(write_tx& /*unused*/, const note_action& /*unused*/,
                          const moment& /*unused*/) {
    return {};
}

forget_actions::answer apply(write_tx& tx, const forget_actions& c, const moment& m) {
    return {actions::forget(tx, m.stamped_before(c.keep), c.limit) == c.limit};
}

void record_action(write_tx& tx, const command& c, const answer& done, const actor& by,
                   const moment& m) {
    action_log log(tx, by, m);
    std::visit(
        [&]<class Command>(const Command& each) {
            tell(log, each, std::get<typename Command::answer>(done));
        },
        c);
}

}  // namespace callsign::rules
