#include <callsign/base/assert.hpp>
#include <callsign/base/variants.hpp>
#include <callsign/jobs/remote_accounts.hpp>
#include <callsign/seal/at_rest.hpp>

#include <optional>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

// How often a move to this server is tried; what is pending is sent in between.
constexpr int rounds_max = 10;

seal::belongs_to place_of(const uuid& client_id) {
    return {seal::purpose::remote_key, account_id{}, client_id};
}

// Whether the server's data can be decrypted. None: it can, or there is none yet.
awaitable<std::optional<remote_fault>> fault_of(task_sink& sink, bool& is_empty) {
    auto first = co_await sink.get_child(uuid{});
    if (const auto* const failure = std::get_if<sink_failure>(&first)) {
        co_return remote_fault{failure->why, failure->text};
    }
    is_empty = std::holds_alternative<sink_up_to_date>(first);
    if (!std::holds_alternative<sink_gone>(first)) co_return std::nullopt;
    auto snapshot = co_await sink.get_snapshot();
    if (const auto* const failure = std::get_if<sink_failure>(&snapshot)) {
        co_return remote_fault{failure->why, failure->text};
    }
    if (std::holds_alternative<sink_snapshot>(snapshot)) co_return std::nullopt;
    co_return remote_fault{sink_failure::kind::unreadable,
                           "The remote server's history is incomplete, and has no snapshot."};
}

// Whether the server knows the version: it has a child, or is the last.
awaitable<std::optional<remote_fault>> look_for(task_sink& sink, const uuid& version,
                                                bool& is_known) {
    auto child = co_await sink.get_child(version);
    if (const auto* const failure = std::get_if<sink_failure>(&child)) {
        co_return remote_fault{failure->why, failure->text};
    }
    is_known = !std::holds_alternative<sink_gone>(child);
    co_return std::nullopt;
}

struct checked_server {
    std::string sealed_key;
    bool is_empty = false;
    bool has_version = false;  // the version passed to check()
};
using check_answer = std::variant<checked_server, remote_fault, no_master_key>;

// Requires: no checked_server.
template <class Answer>
Answer unusable(check_answer&& checked) {
    return widen<Answer>(std::move(checked), [](checked_server&&) -> Answer {
        CALLSIGN_ASSERT(!"the server can be used");
    });
}

awaitable<result<check_answer>> check(context& with, const sink_opener& open,
                                      const remote_server& at, const uuid& version = {}) {
    if (with.master == nullptr || !open) co_return check_answer(no_master_key{});
    auto derived = co_await derive_key(with, payer::operators(), at.secret, at.client_id);
    if (!derived) co_return derived.error();
    const auto key = std::make_shared<const seal::key>(std::move(*derived));
    const auto sink = open(at.url, at.client_id, key);
    if (!sink) {
        co_return check_answer(
            remote_fault{sink_failure::kind::unreachable, "The URL is not valid."});
    }
    bool is_empty = false;
    auto fault = co_await fault_of(*sink, is_empty);
    bool has_version = false;
    if (!fault && !is_empty && !version.is_nil()) {
        fault = co_await look_for(*sink, version, has_version);
    }
    if (fault) co_return check_answer(std::move(*fault));
    co_return check_answer(
        checked_server{sealed_at_rest(with, place_of(at.client_id), *key), is_empty, has_version});
}

}  // namespace

awaitable<result<connect_answer>> connect_account(context& with, const sink_opener& open,
                                                  create_account wanted, const remote_server& at,
                                                  actor by) {
    auto checked = co_await check(with, open, at);
    if (!checked) co_return checked.error();
    auto* const server = std::get_if<checked_server>(&*checked);
    if (server == nullptr) co_return unusable<connect_answer>(std::move(*checked));
    wanted.remote =
        create_account::remote_endpoint{at.url, at.client_id, std::move(server->sealed_key)};
    auto made = co_await with.engine.submit(std::move(wanted), std::move(by));
    if (!made) co_return made.error();
    co_return connect_answer(std::move(*made));
}

awaitable<result<change_remote_answer>> change_remote(context& with, const sink_opener& open,
                                                      account_id account,
                                                      const remote_changes& changes, actor by) {
    find_remote question{account};
    const auto found = co_await with.engine.ask(question);
    if (!found) co_return found.error();
    if (!*found) co_return change_remote_answer(edit_remote::answer(no_remote{}));
    const remote_chain& now = (*found)->remote;
    edit_remote command{.account = account, .accept_loss = changes.accept_loss};
    if (!changes.url.empty()) command.url = changes.url;
    if (!changes.secret.empty()) {
        const remote_server at{changes.url.empty() ? now.url : changes.url, now.client_id,
                               changes.secret};
        auto checked = co_await check(with, open, at);
        if (!checked) co_return checked.error();
        auto* const server = std::get_if<checked_server>(&*checked);
        if (server == nullptr) co_return unusable<change_remote_answer>(std::move(*checked));
        command.sealed_key = std::move(server->sealed_key);
    }
    auto done = co_await with.engine.submit(std::move(command), std::move(by));
    if (!done) co_return done.error();
    co_return change_remote_answer(std::move(*done));
}

awaitable<result<move_to_remote_answer>> move_account_to_remote(context& with,
                                                                const sink_opener& open,
                                                                account_id account,
                                                                const remote_server& at, actor by) {
    find_remote question{account};
    const auto found = co_await with.engine.ask(question);
    if (!found) co_return found.error();
    move_to_remote command{account, at.url, at.client_id, {}, {}};
    // A remote account needs no check: it is there already, or the command is rejected.
    if (!*found) {
        const auto head = co_await with.engine.ask(find_head{account});
        if (!head) co_return head.error();
        auto checked = co_await check(with, open, at, head->version);
        if (!checked) co_return checked.error();
        auto* const server = std::get_if<checked_server>(&*checked);
        if (server == nullptr) co_return unusable<move_to_remote_answer>(std::move(*checked));
        if (!server->is_empty && !server->has_version) {
            co_return move_to_remote_answer(remote_not_empty{});
        }
        if (!server->is_empty) command.behind = head->version;
        command.sealed_key = std::move(server->sealed_key);
    }
    auto done = co_await with.engine.submit(std::move(command), std::move(by));
    if (!done) co_return done.error();
    co_return move_to_remote_answer(std::move(*done));
}

awaitable<result<move_to_local_answer>> move_account_to_local(context& with, outbox& outbox,
                                                              account_id account, actor by) {
    for (int round = 1;; ++round) {
        const bool is_up_to_date = co_await outbox.pull_now(account);
        if (!is_up_to_date) co_return move_to_local_answer(remote_unreachable{});
        find_remote question{account};
        const auto found = co_await with.engine.ask(question);
        if (!found) co_return found.error();
        if (!*found) co_return move_to_local_answer(move_to_local::answer(no_remote{}));
        move_to_local command{account, (*found)->remote.cursor};
        actor again = by;
        auto done = co_await with.engine.submit(command, std::move(again));
        if (!done) co_return done.error();
        const bool may_yet = std::holds_alternative<move_to_local::not_settled>(*done) ||
                             std::holds_alternative<cursor_mismatch>(*done);
        if (!may_yet || round == rounds_max) co_return move_to_local_answer(std::move(*done));
        // Sends what is pending.
        const bool is_sent = co_await outbox.push_now(account);
        if (!is_sent) co_return move_to_local_answer(remote_unreachable{});
    }
}

}  // namespace callsign::jobs
