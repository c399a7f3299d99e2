// Devices of managed accounts. A new device's secret is in the response and nowhere else.

#include "handlers.hpp"
#include "shared/answers.hpp"
#include "taskrc.hpp"

#include <callsign/base/text.hpp>
#include <callsign/domain/query.hpp>
#include <callsign/jobs/device_keys.hpp>

namespace callsign::api {
namespace {

http_response answer_opaque(const request_context& c) {
    return answer_problem(c, problems::account_opaque,
                          "The devices of an opaque account share its client ID and a secret that "
                          "the server does not have.");
}

http_response answer_device_refusal(const request_context& c,
                                    const create_device::answer& refused) {
    if (std::holds_alternative<no_such_account>(refused)) return answer_no_account(c);
    if (std::holds_alternative<account_is_opaque>(refused)) return answer_opaque(c);
    if (std::holds_alternative<account_is_elsewhere>(refused)) {
        return answer_problem(c, problems::account_elsewhere,
                              "The account's replicas sync with the remote server.");
    }
    if (std::holds_alternative<name_taken>(refused)) {
        return answer_problem(
            c, problems::name_taken,
            "Another device of the account has this name. Revoke it, or use another name.");
    }
    if (std::holds_alternative<client_id_taken>(refused)) {
        return answer_problem(c, problems::client_id_taken,
                              "The generated client ID is taken. Retry.");
    }
    return answer_problem(c, problems::too_many_devices, "Revoke unused devices.");
}

http_response answer_made(const rest_context& r, const request_context& c, const device& made,
                          const std::string& secret) {
    using boost::beast::http::field;
    v1::Device message = wire::to_message(made);
    message.set_encryption_secret(secret);
    const std::string url = r.public_url.empty()
                                ? url_of_server(header_of(c.request, field::host), r.speaks_tls)
                                : r.public_url;
    message.set_taskrc(taskrc_of({url, message.client_id(), secret, r.key_attribute}));
    return answer_secret(c, 201, message);
}

http_response answer_no_device(const request_context& c) {
    return answer_problem(c, problems::device_not_found, "The account has no device with this ID.");
}

}  // namespace

awaitable<http_response> list_devices(rest_context& r, request_context& c) {
    wire::faults wrong;
    callsign::list_devices question{c.owner(), read_page(c, wrong)};
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto found = co_await r.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (std::holds_alternative<no_such_account>(*found)) co_return answer_no_account(c);
    if (std::holds_alternative<account_is_opaque>(*found)) co_return answer_opaque(c);
    const auto& page = std::get<page_of<device>>(*found);
    v1::DeviceList message;
    message.set_next_page_token(next_page_token(page));
    for (const device& d : page.rows) *message.add_devices() = wire::to_message(d);
    co_return answer_message(c, 200, message);
}

awaitable<http_response> add_device(rest_context& r, request_context& c) {
    wire::faults wrong;
    v1::CreateDevice wanted;
    if (read_body(c, wanted, wrong)) check_name(wanted.name(), "A device", wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    actor by = c.by();
    auto done = co_await jobs::add_device(r.jobs, c.owner(), wanted.name(), std::move(by));
    if (!done) co_return answer_error(c, done.error());
    if (const auto* refused = std::get_if<create_device::answer>(&*done)) {
        co_return answer_device_refusal(c, *refused);
    }
    auto* const made = std::get_if<jobs::new_device>(&*done);
    if (made == nullptr) co_return answer_no_master_key(c);
    const seal::wiped afterwards(made->secret);
    co_return answer_made(r, c, made->device, made->secret);
}

awaitable<http_response> revoke_device(rest_context& r, request_context& c) {
    const auto id = parse_integer(c.named());
    if (!id)
        co_return answer_problem(c, problems::device_not_found, "The device ID must be a number.");
    callsign::revoke_device command{c.owner(), device_id{*id}};
    actor by = c.by();
    const auto done = co_await r.engine.submit(std::move(command), std::move(by));
    if (!done) co_return answer_error(c, done.error());
    co_return std::visit(
        overloaded{
            [&](const device& d) { return answer_message(c, 200, wire::to_message(d)); },
            [&](callsign::revoke_device::no_such_device) { return answer_no_device(c); },
            [&](no_such_account) { return answer_no_account(c); },
            [&](account_is_opaque) { return answer_opaque(c); },
        },
        *done);
}

}  // namespace callsign::api
