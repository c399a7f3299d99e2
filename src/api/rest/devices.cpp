// Devices of managed accounts. A new device's secret is in the response and nowhere else.

#include "handlers.hpp"
#include "shared/rejections.hpp"
#include "taskrc.hpp"

#include <callsign/base/text.hpp>
#include <callsign/domain/query.hpp>
#include <callsign/jobs/device_keys.hpp>

namespace callsign::api {
namespace {

constexpr auto opaque = [](account_is_opaque) {
    return rejected{problems::account_opaque,
                    "The devices of an opaque account share its client ID and a secret that the "
                    "server does not have."};
};

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

}  // namespace

awaitable<http_response> get_devices(rest_context& r, request_context& c) {
    wire::field_errors wrong;
    list_devices question{c.owner(), read_page(c, wrong)};
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto found = co_await r.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (const auto why = rejection_in(*found, opaque)) co_return answer_rejected(c, *why);
    const auto& page = std::get<page_of<device>>(*found);
    v1::DeviceList message;
    message.set_next_page_token(next_page_token(page));
    for (const device& d : page.rows) *message.add_devices() = wire::to_message(d);
    co_return answer_message(c, 200, message);
}

awaitable<http_response> post_device(rest_context& r, request_context& c) {
    wire::field_errors wrong;
    v1::CreateDevice wanted;
    if (read_body(c, wanted, wrong)) check_name(wanted.name(), "A device", wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    actor by = c.by();
    jobs::keyed_secret keyed = [&](const std::string& secret) {
        auto with_secret = c.once;
        if (with_secret) seal_secret(c, r.entropy, secret, *with_secret);
        return with_secret;
    };
    auto done = co_await jobs::add_device(r.jobs, c.owner(), wanted.name(), std::move(by), c.once,
                                          std::move(keyed));
    if (!done) co_return answer_error(c, done.error());
    const auto why = rejection_in(
        *done, opaque,
        [](account_is_remote) {
            return rejected{problems::account_remote,
                            "The account's replicas sync with the remote server."};
        },
        [](name_taken) {
            return rejected{
                problems::name_taken,
                "Another device of the account has this name. Revoke it, or use another name."};
        },
        [](client_id_taken) {
            return rejected{problems::client_id_taken, "The generated client ID is taken. Retry."};
        });
    if (why) co_return answer_rejected(c, *why);
    if (const auto* const tried = std::get_if<create_device::answer>(&*done)) {
        const auto& again = std::get<replayed<device>>(*tried);
        std::string secret = opened_secret(c, *c.once, again.sealed);
        const seal::wiped afterwards(secret);
        co_return as_replayed(answer_made(r, c, again.first, secret));
    }
    auto* const made = std::get_if<jobs::new_device>(&*done);
    const seal::wiped afterwards(made->secret);
    co_return answer_made(r, c, made->device, made->secret);
}

awaitable<http_response> delete_device(rest_context& r, request_context& c) {
    const auto id = parse_integer(c.named());
    if (!id)
        co_return answer_problem(c, problems::device_not_found, "The device ID must be a number.");
    revoke_device command{c.owner(), device_id{*id}};
    co_return co_await carry_out(
        r.engine, c, std::move(command),
        [&c](const device& d) { return answer_message(c, 200, wire::to_message(d)); }, opaque);
}

}  // namespace callsign::api
