// Devices of managed accounts. A new one's secret is drawn here, shown in that one answer and kept
// nowhere: what is stored is the key derived from it, sealed under the master key.

#include "derivation.hpp"
#include "handlers.hpp"
#include "sync/known_clients.hpp"
#include "taskrc.hpp"

#include <callsign/rules/rules.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace callsign::api {
namespace {

// Whose devices: the caller's own account, or the one an operator names.
using whose = std::variant<account_id, std::string>;

struct owned {
    std::optional<account> owner;  // none: there is no such account
    std::vector<device> devices;
};

std::optional<account> find_owner(read_tx& tx, const whose& owner) {
    return std::visit([&](const auto& by) { return tx.find_account(by); }, owner);
}

owned find_devices(read_tx& tx, const whose& by) {
    owned found{find_owner(tx, by), {}};
    if (found.owner) found.devices = tx.devices_of(found.owner->id);
    return found;
}

http_response answer_opaque(const call& c) {
    return answer_problem(c, problems::account_opaque,
                          "An opaque account's devices share its client id and a secret that never "
                          "comes here.");
}

// A response: it has no devices to manage.
std::optional<http_response> not_managed(const call& c, const std::optional<account>& owner) {
    if (!owner) return answer_no_account(c);
    if (owner->mode == account_mode::opaque) return answer_opaque(c);
    return std::nullopt;
}

// ---- adding ----

std::string read_name(const call& c, wire::faults& found) {
    v1::CreateDevice message;
    if (!read_body(c, message, found)) return {};
    if (message.name().empty()) {
        add_fault(found, {"name", "required", "A device has a name."});
    } else if (!is_valid_name(message.name())) {
        add_fault(found, {"name", "malformed",
                          "A name is up to 63 letters, digits, dots, hyphens and underscores, a "
                          "letter or digit first."});
    }
    return message.name();
}

// 256 bits as hexadecimal digits: what a double click selects as a whole, and no shell, command
// line or .taskrc reads as anything else.
std::string draw_secret(entropy& source) {
    constexpr std::string_view digits = "0123456789abcdef";
    seal::secret_bytes bits(32);
    source.fill(bits.writable());
    std::string text;
    text.reserve(2 * bits.size());  // once grown, it would leave a part of it behind
    for (const std::uint8_t byte : bits.bytes()) {
        text += digits[byte >> 4];
        text += digits[byte & 0x0F];
    }
    return text;
}

http_response answer_refusal(const call& c, const create_device::answer& refused) {
    if (std::holds_alternative<no_such_account>(refused)) return answer_no_account(c);
    if (std::holds_alternative<account_is_opaque>(refused)) return answer_opaque(c);
    if (std::holds_alternative<name_taken>(refused)) {
        return answer_problem(c, problems::name_taken,
                              "Another device of the account has this name: revoke it, or take "
                              "another one.");
    }
    if (std::holds_alternative<client_id_taken>(refused)) {
        return answer_problem(c, problems::client_id_taken, "Ask again: another one is drawn.");
    }
    return answer_problem(c, problems::too_many_devices,
                          "Revoke those that are not in use any more.");
}

std::string_view forwarded_proto(const http_request& request) {
    const auto found = request.find("X-Forwarded-Proto");
    if (found == request.end()) return {};
    return {found->value().data(), found->value().size()};
}

http_response answer_made(const rooms& r, const call& c, const device& made,
                          const std::string& secret) {
    using boost::beast::http::field;
    v1::Device message = wire::to_message(made);
    message.set_encryption_secret(secret);
    message.set_taskrc(
        taskrc_of({url_of_server(header_of(c.request, field::host), forwarded_proto(c.request)),
                   message.client_id(), secret, r.sync.key_attribute}));
    return answer_secret(c, 201, message);
}

struct outlook {
    account_id account;
    std::optional<create_device::answer> refusal;
};

// Asks before it derives: what will be refused must not cost a derivation. The rule asks again, and
// it alone decides.
awaitable<http_response> create(rooms& r, call& c, whose owner) {
    wire::faults wrong;
    create_device command;
    command.name = read_name(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    command.client_id = draw_client_id(r.entropy);
    auto question = [&](read_tx& tx) -> outlook {
        const auto found = find_owner(tx, owner);
        if (!found) return {{}, no_such_account{}};
        create_device meant = command;
        meant.account = found->id;
        return {found->id, rules::refusal_of(tx, meant)};
    };
    const auto ahead = co_await r.engine.ask(c.payer(), std::move(question));
    if (!ahead) co_return answer_error(c, ahead.error());
    if (ahead->refusal) co_return answer_refusal(c, *ahead->refusal);
    if (r.master == nullptr) {
        co_return answer_no_master_key(c);
    }
    command.account = ahead->account;
    std::string secret = draw_secret(r.entropy);
    const seal::wiped afterwards(secret);
    const seal::belongs_to place{seal::purpose::device_key, command.account, command.client_id};
    const auto derived = co_await derive_aside(r, command.account, secret, command.client_id);
    if (!derived) co_return answer_error(c, derived.error());
    command.sealed_key = sealed_at_rest(r, place, *derived);
    const auto done = co_await r.engine.submit(std::move(command));
    if (!done) co_return answer_error(c, done.error());
    const auto* made = std::get_if<device>(&*done);
    if (made == nullptr) co_return answer_refusal(c, *done);
    co_return answer_made(r, c, *made, secret);
}

// ---- listing, revoking ----

awaitable<http_response> list(rooms& r, call& c, whose owner) {
    wire::faults wrong;
    const page p = read_page(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    auto question = [&owner](read_tx& tx) { return find_devices(tx, owner); };
    auto found = co_await r.engine.ask({c.payer(), many_rows}, std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (auto refused = not_managed(c, found->owner)) co_return std::move(*refused);
    v1::DeviceList message;
    message.set_next_page_token(cut_to_page(found->devices, p));
    for (const device& d : found->devices) *message.add_devices() = wire::to_message(d);
    co_return answer_message(c, 200, message);
}

// nullopt: it is no device's.
std::optional<device_id> parse_device_id(std::string_view captured) {
    const std::string text = percent_decoded(captured);
    device_id id;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, id.value);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return id;
}

http_response answer_no_device(const call& c) {
    return answer_problem(c, problems::device_not_found, "No device of the account has this id.");
}

awaitable<http_response> revoke(rooms& r, call& c, whose owner, std::string_view captured_id) {
    const auto id = parse_device_id(captured_id);
    if (!id) co_return answer_problem(c, problems::device_not_found, "A device's id is a number.");
    auto question = [&owner](read_tx& tx) { return find_devices(tx, owner); };
    const auto found = co_await r.engine.ask(c.payer(), std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (auto refused = not_managed(c, found->owner)) co_return std::move(*refused);
    const auto meant = std::find_if(found->devices.begin(), found->devices.end(),
                                    [&](const device& d) { return d.id == *id; });
    if (meant == found->devices.end()) co_return answer_no_device(c);
    const revoke_device command{found->owner->id, *id};
    const auto done = co_await r.engine.submit(command);
    // Also where the outcome is not known: to forget too much costs a read.
    r.clients.forget(meant->client_id);
    if (!done) co_return answer_error(c, done.error());
    const auto* revoked = std::get_if<device>(&*done);
    if (revoked == nullptr) co_return answer_no_device(c);
    co_return answer_message(c, 200, wire::to_message(*revoked));
}

}  // namespace

// Version 4 of RFC 9562: the id is all that a client proves itself with, so nothing of it may be
// guessed from the time.
uuid draw_client_id(entropy& source) {
    uuid id{};
    source.fill(id.data);
    id.data[6] = static_cast<std::uint8_t>((id.data[6] & 0x0F) | 0x40);
    id.data[8] = static_cast<std::uint8_t>((id.data[8] & 0x3F) | 0x80);
    return id;
}

// ---- an account's own ----

awaitable<http_response> list_devices(rooms& r, call& c) {
    return list(r, c, c.account());
}

awaitable<http_response> add_device(rooms& r, call& c) {
    return create(r, c, c.account());
}

awaitable<http_response> revoke_own_device(rooms& r, call& c) {
    return revoke(r, c, c.account(), c.captured[0]);
}

// ---- operators ----

awaitable<http_response> list_devices_of(rooms& r, call& c) {
    return list(r, c, percent_decoded(c.captured[0]));
}

awaitable<http_response> add_device_to(rooms& r, call& c) {
    return create(r, c, percent_decoded(c.captured[0]));
}

awaitable<http_response> revoke_device_of(rooms& r, call& c) {
    return revoke(r, c, percent_decoded(c.captured[0]), c.captured[1]);
}

}  // namespace callsign::api
