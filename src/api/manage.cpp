// An opaque account becomes managed: somebody who has its secret gives it away. The history is
// opened beside the network thread, in bounded steps; then one command puts it in the place of the
// sealed one. Until then nothing has changed, and the account's clients go on as if nothing were.

#include "auth.hpp"
#include "derivation.hpp"
#include "handlers.hpp"
#include "sync/history.hpp"
#include "sync/known_clients.hpp"

#include <callsign/seal/at_rest.hpp>

namespace callsign::api {
namespace {

// What all existing replicas share is one device, under this name.
constexpr std::string_view device_name = "shared";

// Of one step: questions of others wait behind it.
constexpr std::size_t step_versions_max = 500;
constexpr std::size_t step_bytes_max = 1u << 20;

// A client that adds a version while the last ones are written is read after it, so often.
constexpr int attempts_max = 20;

// One account at a time: a history is held in memory. As long as it lives.
class management {
  public:
    management(std::shared_ptr<std::optional<managing>> slot, std::string account)
        : slot_(std::move(slot)) {
        slot_->emplace(managing{std::move(account), 0, 0});
    }
    ~management() { slot_->reset(); }
    management(const management&) = delete;
    management& operator=(const management&) = delete;

    managing& progress() { return **slot_; }

  private:
    std::shared_ptr<std::optional<managing>> slot_;
};

struct opaque_account {
    std::optional<account> owner;
    device client;
    chain_head head;
};

opaque_account find_opaque(read_tx& tx, const std::string& name) {
    opaque_account found;
    found.owner = tx.find_account(name);
    if (!found.owner) return found;
    const auto clients = tx.devices_of(found.owner->id);
    if (!clients.empty()) found.client = clients.front();
    found.head = tx.head_of(found.owner->id);
    return found;
}

// Where the opening has come to.
struct reading {
    history_opener opener;
    std::size_t bytes = 0;
    chain_head head;  // the last version opened
    std::optional<history_opener::fault> wrong;
};

// As much as one step may be. False: that was all, or something is wrong.
bool read_step(read_tx& tx, account_id account, reading& r) {
    std::size_t bytes = 0;
    for (std::size_t n = 0; n < step_versions_max && bytes < step_bytes_max; ++n) {
        auto next = r.head.seq == 0 ? tx.find_first_sealed(account)
                                    : tx.find_sealed_child(account, r.head.version);
        if (!next) return false;
        if (r.head.seq == 0) {
            r.wrong = r.opener.begin(next->parent, tx.find_snapshot(account));
            if (r.wrong) return false;
        }
        r.wrong = r.opener.add(*next);
        if (r.wrong) return false;
        r.head = {next->seq, next->id};
        bytes += next->segment.size();
        r.bytes += next->segment.size();
    }
    return true;
}

http_response answer_wrong(const call& c, const history_opener::fault& wrong) {
    const problem& what =
        wrong.wrong_secret ? problems::wrong_secret : problems::history_unreadable;
    const std::string end = wrong.why.ends_with('.') ? "" : ".";
    return answer_problem(c, what, wrong.why + end + " Nothing was changed.");
}

http_response answer_no_history(const call& c) {
    return answer_problem(c, problems::no_history,
                          "Nothing shows that this is its secret: let one of its Taskwarriors sync "
                          "first. Nothing was changed.");
}

// The secret's bytes as they came; empty: `found` says why.
std::string read_secret(const call& c, wire::faults& found) {
    v1::ManageAccount message;
    if (!read_body(c, message, found)) return {};
    if (message.encryption_secret().empty()) {
        add_fault(found, {"encryptionSecret", "required",
                          "What the account's Taskwarriors have as sync.encryption_secret."});
    }
    return std::move(*message.mutable_encryption_secret());
}

manage_account command_from(const opaque_account& account, reading& r, std::string sealed_key) {
    manage_account command;
    command.account = account.owner->id;
    command.head = r.head;
    command.history = r.opener.take_history();
    command.tasks = r.opener.take_tasks();
    command.device_name = device_name;
    command.sealed_key = std::move(sealed_key);
    command.bytes = r.bytes;
    return command;
}

// Opens everything there is by now.
awaitable<boost::system::error_code> open_history(rooms& r, account_id account, reading& opening,
                                                  managing& progress) {
    for (;;) {
        auto step = [&](read_tx& tx) { return read_step(tx, account, opening); };
        const claim asks{account, {.bytes = step_bytes_max, .rows = step_versions_max}};
        const auto more = co_await r.engine.ask(asks, std::move(step));
        if (!more) co_return more.error();
        progress.opened = opening.head.seq;
        progress.total = std::max(progress.total, progress.opened);
        if (!*more) co_return boost::system::error_code{};
    }
}

awaitable<http_response> manage(rooms& r, call& c, opaque_account account, std::string secret) {
    const seal::wiped afterwards(secret);
    management mine(r.managing, account.owner->name);
    mine.progress().total = account.head.seq;
    auto derived = co_await derive_aside(r, account.owner->id, secret, account.client.client_id);
    if (!derived) co_return answer_error(c, derived.error());
    const seal::belongs_to owner{seal::purpose::device_key, account.owner->id,
                                 account.client.client_id};
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        reading opening{history_opener(*derived), 0, {}, {}};
        const auto failed = co_await open_history(r, account.owner->id, opening, mine.progress());
        if (failed) co_return answer_error(c, failed);
        if (opening.wrong) co_return answer_wrong(c, *opening.wrong);
        auto build = [&] {
            return command_from(account, opening, sealed_at_rest(r, owner, *derived));
        };
        const claim asks{account.owner->id, {.rows = static_cast<std::size_t>(opening.head.seq)}};
        auto command = co_await r.engine.run_aside(asks, std::move(build));
        if (!command) co_return answer_error(c, command.error());
        const auto done = co_await r.engine.submit(std::move(*command));
        if (!done) co_return answer_error(c, done.error());
        if (std::holds_alternative<manage_account::moved_on>(*done)) continue;
        if (const auto* managed = std::get_if<manage_account::managed>(&*done)) {
            // Both have remembered an opaque account.
            r.clients.forget(account.client.client_id);
            r.tokens.token_revoked();
            v1::ManagedAccount message;
            message.set_account(account.owner->name);
            message.set_versions(managed->versions);
            message.set_tasks(managed->tasks);
            message.set_device(std::string(device_name));
            co_return answer_message(c, 200, message);
        }
        if (std::holds_alternative<manage_account::no_history>(*done)) {
            co_return answer_no_history(c);
        }
        co_return answer_problem(c, problems::account_managed, "There is nothing to be done.");
    }
    co_return answer_busy(c, "Its clients add versions faster than they can be taken over.");
}

}  // namespace

awaitable<http_response> manage_opaque_account(rooms& r, call& c) {
    wire::faults wrong;
    std::string secret = read_secret(c, wrong);
    seal::wipe(c.request.body());
    const seal::wiped afterwards(secret);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    auto question = [name = percent_decoded(c.captured[0])](read_tx& tx) {
        return find_opaque(tx, name);
    };
    auto found = co_await r.engine.ask(c.payer(), std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!found->owner) co_return answer_no_account(c);
    if (found->owner->mode != account_mode::opaque) {
        co_return answer_problem(c, problems::account_managed, "There is nothing to be done.");
    }
    if (r.master == nullptr) co_return answer_no_master_key(c);
    if (found->head.seq == 0) co_return answer_no_history(c);
    if (*r.managing) {
        co_return answer_busy(c, "Another account is just becoming managed. Ask again later.");
    }
    co_return co_await manage(r, c, std::move(*found), std::move(secret));
}

awaitable<http_response> show_managing(rooms& r, call& c) {
    v1::ManagingStatus message;
    if (const auto& now = *r.managing; now && now->account == percent_decoded(c.captured[0])) {
        message.set_running(true);
        message.set_opened(now->opened);
        message.set_total(now->total);
    }
    co_return answer_message(c, 200, message);
}

}  // namespace callsign::api
