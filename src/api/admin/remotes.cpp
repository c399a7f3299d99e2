#include "remotes.hpp"

#include "shared/rejections.hpp"

#include <callsign/domain/query.hpp>
#include <callsign/net/outgoing.hpp>

#include <boost/asio/ip/address.hpp>

namespace callsign::api {
namespace {

bool is_loopback(const std::string& host) {
    if (host == "localhost") return true;
    boost::system::error_code is_name;
    const auto address = boost::asio::ip::make_address(host, is_name);
    return !is_name && address.is_loopback();
}

std::string_view text_of_state(remote_status::state state) {
    switch (state) {
    case remote_status::state::starting: return "starting";
    case remote_status::state::up_to_date: return "up_to_date";
    case remote_status::state::pulling: return "pulling";
    case remote_status::state::sending: return "sending";
    case remote_status::state::waiting: return "waiting";
    case remote_status::state::halted: return "halted";
    }
    return "";
}

void describe(v1::RemoteState& out, const callsign::find_remote::found& row) {
    out.set_url(row.remote.url);
    out.set_client_id(to_string(row.remote.client_id));
    out.set_halted(std::string(to_string(row.remote.halted)));
    if (!row.remote.cursor.is_nil()) out.set_version(to_string(row.remote.cursor));
    out.set_creations_waiting(row.waiting.creations);
    out.set_keys_waiting(row.waiting.keys);
    if (row.remote.moving) {
        out.set_moving(true);
        out.set_tasks_moved(row.remote.moving->tasks);
    }
    if (row.waiting.oldest) wire::set_timestamp(*out.mutable_oldest_waiting(), *row.waiting.oldest);
}

void describe(v1::RemoteState& out, const remote_status& now) {
    out.set_state(std::string(text_of_state(now.now)));
    out.set_last_error(now.last_error);
    if (now.last_error_at) wire::set_timestamp(*out.mutable_last_error_at(), *now.last_error_at);
    if (now.up_to_date_at) wire::set_timestamp(*out.mutable_up_to_date_at(), *now.up_to_date_at);
    out.set_pulled(now.pulled);
}

}  // namespace

void check_remote_url(const std::string& url, const std::string& field, bool insecure,
                      wire::field_errors& found) {
    const auto parsed = net::parse_outgoing_url(url);
    if (const auto* const fault = std::get_if<std::string>(&parsed)) {
        return add_error(found, {field, "malformed", *fault});
    }
    const auto& where = std::get<net::outgoing_url>(parsed);
    if (where.target.find('?') != where.target.npos) {
        return add_error(found, {field, "malformed", "Must not have a query."});
    }
    if (where.tls || insecure || is_loopback(where.host)) return;
    add_error(found, {field, "insecure",
                      "Must be https: plain http sends the client ID, a credential, unencrypted. "
                      "Set insecure to allow plain http."});
}

void check_remote_server(const v1::RemoteServer& at, wire::field_errors& found) {
    check_remote_url(at.url(), "remote.url", at.insecure(), found);
    const auto client_id = parse_uuid(at.client_id());
    if (!client_id) {
        add_error(found, {"remote.clientId", "malformed", "Must be a UUID."});
    } else if (client_id->is_nil()) {
        add_error(found, {"remote.clientId", "invalid", "Must not be the nil UUID."});
    }
    if (at.encryption_secret().empty()) {
        add_error(found, {"remote.encryptionSecret", "required",
                          "Must be the sync.encryption_secret of the account's replicas."});
    }
}

awaitable<v1::Account> describe_account(admin_context& a, account shown) {
    v1::Account message = wire::to_message(shown);
    if (!shown.is_remote) co_return message;
    callsign::find_remote question{shown.id};
    const auto row = co_await a.engine.ask(question);
    if (row && *row) describe(*message.mutable_remote(), **row);
    const auto now = a.remote.outbox ? a.remote.outbox->status(shown.id) : std::nullopt;
    if (now) describe(*message.mutable_remote(), *now);
    co_return message;
}

awaitable<http_response> answer_account(admin_context& a, request_context& c, unsigned status,
                                        account shown, std::string token) {
    v1::Account message = co_await describe_account(a, std::move(shown));
    message.set_token(token);
    co_return token.empty() ? answer_message(c, status, message)
                            : answer_secret(c, status, message);
}

awaitable<http_response> get_any_account(admin_context& a, request_context& c) {
    find_account question{c.owner()};
    const auto found = co_await a.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    account shown = **found;
    co_return co_await answer_account(a, c, 200, std::move(shown), {});
}

awaitable<http_response> patch_remote(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    v1::EditRemote wanted;
    if (read_body(c, wanted, wrong) && !wanted.url().empty()) {
        check_remote_url(wanted.url(), "url", wanted.insecure(), wrong);
    }
    const seal::wiped afterwards(*wanted.mutable_encryption_secret());
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    find_account question{c.owner()};
    const auto owner = co_await a.engine.ask(std::move(question));
    if (!owner) co_return answer_error(c, owner.error());
    if (!*owner) co_return answer_no_account(c);
    const jobs::remote_changes changes{wanted.url(), wanted.encryption_secret(),
                                       wanted.accept_loss()};
    actor by = c.by();
    const auto done =
        co_await jobs::change_remote(a.jobs, a.remote.open, (*owner)->id, changes, std::move(by));
    if (!done) co_return answer_error(c, done.error());
    if (const auto why = rejection_in(*done)) co_return answer_rejected(c, *why);
    account shown = **owner;
    co_return co_await answer_account(a, c, 200, std::move(shown), {});
}

namespace {

rejected cannot_move() {
    return {problems::account_opaque,
            "Opaque accounts cannot be moved: the configuration of the replicas determines the "
            "server that they sync with."};
}

awaitable<http_response> move_away(admin_context& a, request_context& c, account shown,
                                   v1::RemoteServer& at) {
    jobs::remote_server server{at.url(), *parse_uuid(at.client_id()), at.encryption_secret()};
    const seal::wiped its_copy(server.secret);
    actor by = c.by();
    const auto done = co_await jobs::move_account_to_remote(a.jobs, a.remote.open, shown.id, server,
                                                            std::move(by));
    if (!done) co_return answer_error(c, done.error());
    if (const auto why = rejection_in(*done, [](account_is_opaque) { return cannot_move(); })) {
        co_return answer_rejected(c, *why);
    }
    shown.is_remote = true;
    co_return co_await answer_account(a, c, 200, std::move(shown), {});
}

awaitable<http_response> bring_here(admin_context& a, request_context& c, account shown) {
    if (!shown.is_remote || a.remote.outbox == nullptr) {
        co_return answer_rejected(c, rejections(no_remote{}));
    }
    actor by = c.by();
    const auto done =
        co_await jobs::move_account_to_local(a.jobs, *a.remote.outbox, shown.id, std::move(by));
    if (!done) co_return answer_error(c, done.error());
    if (const auto why = rejection_in(*done)) co_return answer_rejected(c, *why);
    shown.is_remote = false;
    co_return co_await answer_account(a, c, 200, std::move(shown), {});
}

}  // namespace

awaitable<http_response> post_move(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    v1::MoveAccount wanted;
    const bool is_read = read_body(c, wanted, wrong);
    const seal::wiped afterwards(*wanted.mutable_remote()->mutable_encryption_secret());
    const bool is_away = !wanted.remote().url().empty();
    if (is_read && wanted.here() == is_away) {
        add_error(wrong, {"here", "required", "Exactly one of here and remote must be given."});
    }
    if (is_read && is_away) check_remote_server(wanted.remote(), wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    find_account question{c.owner()};
    const auto owner = co_await a.engine.ask(std::move(question));
    if (!owner) co_return answer_error(c, owner.error());
    if (!*owner) co_return answer_no_account(c);
    account shown = **owner;
    if (shown.mode == account_mode::opaque) co_return answer_rejected(c, cannot_move());
    if (is_away) co_return co_await move_away(a, c, std::move(shown), *wanted.mutable_remote());
    co_return co_await bring_here(a, c, std::move(shown));
}

}  // namespace callsign::api
