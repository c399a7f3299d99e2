#include "base64url.hpp"
#include "derivation.hpp"
#include "handlers.hpp"
#include "negotiation.hpp"
#include "sync/known_clients.hpp"
#include "sync/registrations.hpp"
#include "sync/server_snapshots.hpp"
#include "sync/sync_call.hpp"
#include "sync/turnstile.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace callsign::api {
namespace {

// Everything there is. A path's first line of a method wins; the busiest comes first.
constexpr route routes[] = {
    // clang-format off
    {verb::post,    "/v1/tasks",                        access::write,     true,  create_task},
    {verb::get,     "/v1/tasks/{ref}",                  access::read,      false, show_task},
    {verb::patch,   "/v1/tasks/{ref}",                  access::write,     true,  change_task},
    {verb::delete_, "/v1/tasks/{ref}",                  access::write,     false, delete_task},
    {verb::get,     "/v1/slots/{key}",                  access::read,      false, show_slot},

    {verb::post,    "/v1/client/add-version/{parent}",  access::device,    false, add_version,
                                                                                    large_body::segment},
    {verb::get,     "/v1/client/get-child-version/{parent}", access::device, false, get_child_version},
    {verb::post,    "/v1/client/add-snapshot/{version}", access::device,   false, add_snapshot,
                                                                                    large_body::snapshot},
    {verb::get,     "/v1/client/snapshot",              access::device,    false, get_snapshot},

    {verb::get,     "/v1/account",                      access::read,      false, show_account},
    {verb::get,     "/v1/series",                       access::read,      false, list_series},
    {verb::post,    "/v1/series",                       access::write,     true,  add_series},
    {verb::get,     "/v1/tokens",                       access::admin,     false, list_tokens},
    {verb::post,    "/v1/tokens",                       access::admin,     true,  add_token},
    {verb::delete_, "/v1/tokens/{id}",                  access::admin,     false, revoke_own_token},
    {verb::get,     "/v1/devices",                      access::admin,     false, list_devices},
    {verb::post,    "/v1/devices",                      access::admin,     true,  add_device},
    {verb::delete_, "/v1/devices/{id}",                 access::admin,     false, revoke_own_device},

    {verb::get,     "/v1/admin/accounts",               access::operators, false, list_accounts},
    {verb::post,    "/v1/admin/accounts",               access::operators, true,  add_account},
    {verb::get,     "/v1/admin/accounts/{name}/series", access::operators, false, list_series_of},
    {verb::post,    "/v1/admin/accounts/{name}/series", access::operators, true,  add_series_to},
    {verb::get,     "/v1/admin/accounts/{name}/tokens", access::operators, false, list_tokens_of},
    {verb::post,    "/v1/admin/accounts/{name}/tokens", access::operators, true,  add_token_to},
    {verb::get,     "/v1/admin/accounts/{name}/devices", access::operators, false, list_devices_of},
    {verb::post,    "/v1/admin/accounts/{name}/devices", access::operators, true, add_device_to},
    {verb::delete_, "/v1/admin/accounts/{name}/devices/{id}", access::operators, false,
                                                                                 revoke_device_of},
    {verb::get,     "/v1/admin/accounts/{name}/manage", access::operators, false, show_managing},
    {verb::post,    "/v1/admin/accounts/{name}/manage", access::operators, true,  manage_opaque_account},
    {verb::post,    "/v1/admin/accounts/{name}/import", access::operators, true,  import_tasks_to},
    {verb::get,     "/v1/admin/tokens",                 access::operators, false, list_operator_tokens},
    {verb::post,    "/v1/admin/tokens",                 access::operators, true,  add_operator_token},
    {verb::delete_, "/v1/admin/tokens/{id}",            access::operators, false, revoke_any_token},
    {verb::get,     "/v1/admin/slots",                  access::operators, false, list_slots},
    {verb::put,     "/v1/admin/client",                 access::operators, false, put_client},
    {verb::post,    "/v1/admin/client/versions/{version}", access::operators, false, import_version,
                                                                                    large_body::segment},
    {verb::post,    "/v1/admin/client/snapshot/{version}", access::operators, false, import_snapshot,
                                                                                    large_body::snapshot},
    {verb::get,     "/v1/admin/reaper",                 access::operators, false, show_reaper},
    {verb::post,    "/v1/admin/reaper/sweep",           access::operators, false, sweep_now},

    {verb::get,     "/",                                access::anyone,    false, show_product},
    {verb::get,     "/livez",                           access::anyone,    false, show_alive},
    {verb::get,     "/readyz",                          access::anyone,    false, show_ready},
    {verb::get,     "/metrics",                         access::anyone,    false, show_metrics},
    // clang-format on
};

// A label for what has no route: paths are the client's to make up, and labels must stay few.
constexpr std::string_view no_route = "(none)";

// Of a body that nobody looks at; and what makes one large.
constexpr std::size_t unread_body_bytes_max = 16u << 10;

// On whose account a caller's bodies are: an account's own, or all operators' together.
net::body_payer payer_of(const principal& who) {
    constexpr net::body_payer operators = -1;
    return who.account ? who.account->value : operators;
}

// No token is asked for.
bool is_open(const route& where) {
    return where.needs == access::anyone || where.needs == access::device;
}

using maybe_response = std::optional<http_response>;

http_response not_routed(const call& c, bool path_known) {
    if (is_sync_path(c.request.path())) return refuse_sync(404, "");
    if (!path_known) {
        return answer_problem(c, problems::no_such_path,
                              "See the documentation for what there is.");
    }
    std::string allowed = allowed_methods<route>(routes, c.request.path());
    auto response = answer_problem(c, problems::method_not_allowed, "It has " + allowed + ".");
    response.headers.emplace_back("Allow", std::move(allowed));
    return response;
}

// Finds the route and the forms of body and answer; a response where the request fails in that.
maybe_response recognise(call& c) {
    using boost::beast::http::field;
    const bool is_patch = c.request.method() == verb::patch;
    const std::string_view content_type = header_of(c.request, field::content_type);
    const auto body_form = is_patch ? form_of_patch(content_type) : form_of_body(content_type);
    c.body_form = c.answer_form = body_form.value_or(wire::format::json);
    const auto answer_form = form_of_answer(header_of(c.request, field::accept), c.body_form);
    c.answer_form = answer_form.value_or(wire::format::json);

    const auto found = find_route<route>(routes, c.request.method(), c.request.path());
    c.where = found.route;
    c.captured = found.captured;
    // The reference server answers no HEAD of a client's.
    const bool is_head = c.request.method() == verb::head;
    if (c.where && c.where->needs == access::device && is_head) c.where = nullptr;
    if (!c.where) return not_routed(c, found.path_known);
    // These have forms of their own.
    if (is_open(*c.where)) return std::nullopt;
    if (!answer_form) {
        return answer_problem(c, problems::not_acceptable,
                              "Answers are application/json or application/x-protobuf.");
    }
    if (c.where->takes_body && !body_form) {
        auto response = answer_problem(c, problems::unsupported_media_type,
                                       "Send application/json or application/x-protobuf.");
        if (is_patch) {
            response.headers.emplace_back(
                "Accept-Patch",
                "application/merge-patch+json, application/json, application/x-protobuf");
        }
        return response;
    }
    return std::nullopt;
}

http_response challenged(http_response response, std::string_view challenge) {
    response.headers.emplace_back("WWW-Authenticate", challenge);
    return response;
}

http_response without_token(const call& c) {
    return challenged(
        answer_problem(c, problems::unauthenticated, "Send it as Authorization: Bearer TOKEN."),
        "Bearer");
}

http_response with_bad_token(const call& c) {
    return challenged(
        answer_problem(c, problems::invalid_token, "Nobody has this token, or it was revoked."),
        "Bearer error=\"invalid_token\"");
}

// Why the principal may not call the route, in a sentence; empty: it may.
std::string_view forbids(const call& c) {
    const bool of_account = c.who.account.has_value();
    const auto at_least = [&](token_scope scope) { return of_account && c.who.scope >= scope; };
    switch (c.where->needs) {
    case access::anyone:
    case access::device: return {};
    case access::read:
        return at_least(token_scope::read) ? "" : "This needs a token of an account.";
    case access::write:
        return at_least(token_scope::write) ? "" : "This needs an account's token of scope write.";
    case access::admin:
        return at_least(token_scope::admin) ? "" : "This needs an account's token of scope admin.";
    case access::operators:
        return !of_account && c.who.scope == token_scope::admin ? ""
                                                                : "This needs an operator's token.";
    }
    return "This is nobody's to call.";
}

maybe_response forbidden(const call& c) {
    const std::string_view why = forbids(c);
    if (why.empty()) return std::nullopt;
    return challenged(answer_problem(c, problems::insufficient_scope, why),
                      "Bearer error=\"insufficient_scope\"");
}

authenticator::reader reader_of(engine& engine) {
    return [&engine](const digest& token_hash) {
        return engine.ask(payer::strangers(),
                          [token_hash](read_tx& tx) { return tx.find_principal(token_hash); });
    };
}

}  // namespace

class service::impl {
  public:
    impl(engine& engine, reaper& reaper, clock& clock, entropy& entropy, service_options options,
         service_hooks hooks)
        : hooks_(std::move(hooks)),
          tokens_(reader_of(engine), options.principals_max),
          sync_(std::move(options.sync)),
          turns_(clock, sync_.turnstile),
          clients_(options.principals_max),
          newcomers_(sync_.registrations_per_hour),
          snapshots_(engine, clock, sync_.snapshot_bytes_max),
          master_(std::move(options.master_key)),
          rooms_{engine, reaper, clock,    entropy,    tokens_,    hooks_,
                 sync_,  turns_, clients_, newcomers_, snapshots_, master_.get()} {}

    // Who is asking, and may they? A response: no.
    awaitable<maybe_response> authenticate(call& c) {
        const auto token = bearer_token(c.request);
        if (!token) co_return without_token(c);
        const digest hash = sha256(*token);
        if (const principal* known = tokens_.remembered(hash)) {
            c.who = *known;
        } else {
            const auto read = co_await tokens_.ask(hash);
            if (!read) co_return answer_error(c, read.error());
            if (!*read) co_return with_bad_token(c);
            c.who = **read;
        }
        co_return forbidden(c);
    }

    // Whether its body may come. What is found out here is remembered for when it has.
    awaitable<net::admission> admit(call& c) {
        if (c.where->needs == access::anyone) co_return net::admission{};
        const bool is_sync = c.where->needs == access::device;
        net::admission given;
        if (is_sync) {
            given = co_await admit_to_sync(rooms_, c);
        } else {
            given.refused = co_await authenticate(c);
            given.payer = payer_of(c.who);
        }
        if (!given.refused && comes_in_vain(c, given.payer)) {
            const boost::system::error_code why = errc::overloaded;
            given.refused = is_sync ? fail_sync(c, why) : answer_error(c, why);
        }
        co_return given;
    }

    // A large body that there is no room for in its account's share. A small one is here as soon as
    // it could be refused, and what an operator sends counts on an account that the body names.
    bool comes_in_vain(const call& c, net::body_payer pays) {
        if (pays < 0) return false;
        const std::string_view field =
            header_of(c.request, boost::beast::http::field::content_length);
        std::size_t announced = 0;
        std::from_chars(field.data(), field.data() + field.size(), announced);
        if (announced <= unread_body_bytes_max) return false;
        const payer who = pays == net::strangers ? payer::strangers() : payer(account_id{pays});
        return rooms_.engine.turns_away({who, {.bytes = announced}});
    }

    // Room for a large body is for those who are known: nobody can fill it with a client id or a
    // token of his own making.
    net::body_terms terms_of(const net::http_header& header, std::size_t usual_bytes_max,
                             const route& where, std::string_view path_id) {
        if (where.needs == access::device) {
            return terms_of_sync(rooms_, usual_bytes_max, where, path_id, header);
        }
        const auto token = bearer_token(header);
        const principal* const who = token ? tokens_.remembered(sha256(*token)) : nullptr;
        const bool is_operator = who && !who->account && who->scope == token_scope::admin;
        if (!is_operator) return {.bytes_max = usual_bytes_max};
        return {.bytes_max = large_bytes_max(sync_, where)};
    }

    void answered(const call& c, unsigned status, std::chrono::steady_clock::time_point begun) {
        if (!hooks_.answered) return;
        hooks_.answered(c.where ? c.where->path : no_route, status,
                        std::chrono::steady_clock::now() - begun);
    }

    service_hooks hooks_;
    authenticator tokens_;
    sync_options sync_;
    turnstile turns_;
    known_clients clients_;
    registrations newcomers_;
    server_snapshots snapshots_;
    std::shared_ptr<const seal::key> master_;
    rooms rooms_;
};

service::service(engine& engine, reaper& reaper, clock& clock, entropy& entropy,
                 service_options options, service_hooks hooks)
    : impl_(std::make_unique<impl>(engine, reaper, clock, entropy, std::move(options),
                                   std::move(hooks))) {}

service::~service() = default;

awaitable<http_response> service::handle(http_request request) {
    const auto begun = std::chrono::steady_clock::now();
    call c(std::move(request));
    maybe_response response = recognise(c);
    if (!response && !is_open(*c.where)) {
        response = co_await impl_->authenticate(c);
        if (!response) c.pays(payer_of(c.who));
    }
    if (!response) response = co_await c.where->run(impl_->rooms_, c);
    impl_->answered(c, response->status, begun);
    co_return std::move(*response);
}

net::body_terms service::terms_of(const net::http_header& header,
                                  std::size_t usual_bytes_max) const {
    const std::string_view target(header.target().data(), header.target().size());
    const std::string_view path = target.substr(0, target.find('?'));
    const auto found = find_route<route>(routes, header.method(), path);
    const bool is_looked_at = found.route && found.route->takes_body;
    if (is_looked_at) return {.bytes_max = usual_bytes_max};
    if (!found.route || found.route->large == large_body::no) {
        return {.bytes_max = std::min(usual_bytes_max, unread_body_bytes_max)};
    }
    return impl_->terms_of(header, usual_bytes_max, *found.route, found.captured[0]);
}

awaitable<net::admission> service::admit(http_request head) {
    const auto begun = std::chrono::steady_clock::now();
    call c(std::move(head));
    net::admission given;
    given.refused = recognise(c);
    if (!given.refused) given = co_await impl_->admit(c);
    if (given.refused) impl_->answered(c, given.refused->status, begun);
    co_return given;
}

awaitable<bool> service::opens_devices() {
    auto question = [](read_tx& tx) -> std::optional<device> {
        for (const account& a : tx.accounts()) {
            if (a.mode != account_mode::managed) continue;
            for (device& d : tx.devices_of(a.id)) {
                if (!d.sealed_key.empty() && !d.revoked_at) return std::move(d);
            }
        }
        return std::nullopt;
    };
    const auto found = co_await impl_->rooms_.engine.ask(payer::house(), std::move(question));
    if (!found || !*found) co_return true;
    co_return open_device_key(impl_->rooms_.master, **found) != nullptr;
}

std::string make_token(entropy& source) {
    seal::secret_bytes bits(32);
    source.fill(bits.writable());
    const auto* const text = reinterpret_cast<const char*>(bits.bytes().data());
    return "cs_" + to_base64url({text, bits.size()});
}

std::span<const route> all_routes() noexcept {
    return routes;
}

// ---- words the handlers share ----

std::string_view header_of(const http_request& request, boost::beast::http::field name) {
    const auto found = request.find(name);
    if (found == request.end()) return {};
    return {found->value().data(), found->value().size()};
}

http_response answer_message(const call& c, unsigned status,
                             const google::protobuf::Message& message) {
    http_response response;
    response.status = status;
    response.content_type = wire::media_type(c.answer_form);
    response.body = wire::encode(c.answer_form, message);
    return response;
}

http_response answer_secret(const call& c, unsigned status,
                            const google::protobuf::Message& message) {
    http_response response = answer_message(c, status, message);
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
}

bool read_body(const call& c, google::protobuf::Message& message, wire::faults& found) {
    if (wire::decode(c.body_form, c.request.body(), message, found)) return true;
    for (const wire::field_fault& fault : found) {
        if (fault.field.empty()) return false;
    }
    return true;
}

void add_fault(wire::faults& found, wire::field_fault fault) {
    for (const wire::field_fault& known : found) {
        if (known.field == fault.field) return;
    }
    found.push_back(std::move(fault));
}

http_response answer_no_account(const call& c) {
    return answer_problem(c, problems::account_not_found, "GET /v1/admin/accounts lists them.");
}

page read_page(const call& c, wire::faults& found) {
    const query asked(c.request.query(), {"pageSize", "pageToken"}, found);
    return read_page(asked, found);
}

}  // namespace callsign::api
