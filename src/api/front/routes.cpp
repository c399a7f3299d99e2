#include "routes.hpp"

namespace callsign::api {
namespace {

// A handler in the form that the table holds.
template <auto Context, auto Handler>
awaitable<http_response> with(contexts& all, request_context& c) {
    return Handler(all.*Context, c);
}
template <auto Handler>
constexpr handler rest = with<&contexts::rest, Handler>;
template <auto Handler>
constexpr handler feed = with<&contexts::feed, Handler>;
template <auto Handler>
constexpr handler webhooks = with<&contexts::webhooks, Handler>;
template <auto Handler>
constexpr handler sync = with<&contexts::sync, Handler>;
template <auto Handler>
constexpr handler admin = with<&contexts::admin, Handler>;
template <auto Handler>
constexpr handler ops = with<&contexts::ops, Handler>;
template <auto Handler>
constexpr handler web = with<&contexts::web, Handler>;

// The most frequent route comes first.
constexpr route routes[] = {
    // clang-format off
    {verb::post,    "/v1/tasks",                             access::write,  body::message,  rest<post_task>},
    {verb::get,     "/v1/tasks",                             access::read,   body::none,     rest<get_tasks>},
    {verb::get,     "/v1/tasks/{ref}",                       access::read,   body::none,     rest<get_task>},
    {verb::patch,   "/v1/tasks/{ref}",                       access::write,  body::message,  rest<patch_task>, keyed::yes},
    {verb::delete_, "/v1/tasks/{ref}",                       access::write,  body::none,     rest<delete_task>, keyed::yes},
    {verb::post,    "/v1/tasks/{ref}:complete",              access::write,  body::none,     rest<complete_task>, keyed::yes},
    {verb::post,    "/v1/tasks/{ref}:reopen",                access::write,  body::none,     rest<reopen_task>, keyed::yes},
    {verb::post,    "/v1/tasks/{ref}:start",                 access::write,  body::none,     rest<start_task>, keyed::yes},
    {verb::post,    "/v1/tasks/{ref}:stop",                  access::write,  body::none,     rest<stop_task>, keyed::yes},
    {verb::post,    "/v1/tasks/{ref}:annotate",              access::write,  body::message,  rest<annotate_task>, keyed::yes},
    {verb::post,    "/v1/tasks/{ref}:denotate",              access::write,  body::message,  rest<denotate_task>, keyed::yes},
    {verb::post,    "/v1/tasks:batchCreate",                 access::write,  body::message,  rest<post_tasks>},
    {verb::post,    "/v1/tasks:batchUpdate",                 access::write,  body::message,  rest<patch_tasks>},
    {verb::get,     "/v1/changes",                           access::read,   body::none,     feed<get_changes>},
    {verb::get,     "/v1/changes/stream",                    access::read,   body::none,     feed<get_changes_stream>, keyed::no, true, nullptr, true},
    {verb::get,     "/v1/changes/socket",                    access::read,   body::none,     feed<get_changes_socket>, keyed::no, true, nullptr, true},
    {verb::post,    "/v1/changes/tickets",                   access::read,   body::none,     feed<post_ticket>},
    {verb::post,    "/v1/keys",                              access::write,  body::message,  rest<post_key>},
    {verb::get,     "/v1/slots/{key}",                       access::read,   body::none,     rest<get_slot>},

    {verb::post,    "/v1/client/add-version/{parent}",       access::device, body::segment,  sync<post_version>},
    {verb::get,     "/v1/client/get-child-version/{parent}", access::device, body::none,     sync<get_child_version>},
    {verb::post,    "/v1/client/add-snapshot/{version}",     access::device, body::snapshot, sync<post_snapshot>},
    {verb::get,     "/v1/client/snapshot",                   access::device, body::none,     sync<get_snapshot>},

    {verb::get,     "/v1/account",                           access::read,   body::none,     rest<get_account>},
    {verb::get,     "/v1/series",                            access::read,   body::none,     rest<get_series>},
    {verb::post,    "/v1/series",                            access::write,  body::message,  rest<post_series>, keyed::yes},
    {verb::patch,   "/v1/series/{prefix}",                   access::write,  body::message,  rest<patch_series>, keyed::yes},
    {verb::get,     "/v1/tokens",                            access::admin,  body::none,     rest<get_tokens>},
    {verb::post,    "/v1/tokens",                            access::admin,  body::message,  rest<post_token>, keyed::secret},
    {verb::delete_, "/v1/tokens/{id}",                       access::admin,  body::none,     rest<delete_own_token>},
    {verb::get,     "/v1/devices",                           access::admin,  body::none,     rest<get_devices>},
    {verb::post,    "/v1/devices",                           access::admin,  body::message,  rest<post_device>, keyed::secret},
    {verb::delete_, "/v1/devices/{id}",                      access::admin,  body::none,     rest<delete_device>},
    {verb::get,     "/v1/webhooks",                          access::admin,  body::none,     webhooks<get_webhooks>},
    {verb::post,    "/v1/webhooks",                          access::admin,  body::message,  webhooks<post_webhook>, keyed::secret},
    {verb::get,     "/v1/webhooks/{id}",                     access::admin,  body::none,     webhooks<get_webhook>},
    {verb::patch,   "/v1/webhooks/{id}",                     access::admin,  body::message,  webhooks<patch_webhook>, keyed::yes},
    {verb::delete_, "/v1/webhooks/{id}",                     access::admin,  body::none,     webhooks<delete_webhook>, keyed::yes},
    {verb::post,    "/v1/webhooks/{id}:rotateSecret",        access::admin,  body::message,  webhooks<rotate_webhook_secret>, keyed::secret},
    {verb::post,    "/v1/webhooks/{id}:test",                access::admin,  body::none,     webhooks<test_webhook>},
    {verb::get,     "/v1/webhooks/{id}/deliveries",          access::admin,  body::none,     webhooks<get_deliveries>},

    {verb::get,     "/v1/admin/accounts",                    access::operators, body::none,    admin<get_accounts>},
    {verb::post,    "/v1/admin/accounts",                    access::operators, body::message, admin<post_account>},
    {verb::get,     "/v1/admin/accounts/{name}",             access::operators, body::none,    admin<get_any_account>},
    {verb::patch,   "/v1/admin/accounts/{name}",             access::operators, body::message, admin<patch_any_account>},
    {verb::delete_, "/v1/admin/accounts/{name}",             access::operators, body::none,    admin<delete_any_account>},
    {verb::patch,   "/v1/admin/accounts/{name}/remote",      access::operators, body::message, admin<patch_remote>},
    {verb::post,    "/v1/admin/accounts/{name}/move",        access::operators, body::message, admin<post_move>},
    {verb::get,     "/v1/admin/accounts/{name}/series",      access::operators, body::none,    rest<get_series>},
    {verb::post,    "/v1/admin/accounts/{name}/series",      access::operators, body::message, rest<post_series>, keyed::yes},
    {verb::patch,   "/v1/admin/accounts/{name}/series/{prefix}", access::operators, body::message, rest<patch_series>, keyed::yes},
    {verb::post,    "/v1/admin/accounts/{name}/series/{prefix}/resume", access::operators, body::message, admin<post_resume>},
    {verb::get,     "/v1/admin/accounts/{name}/tokens",      access::operators, body::none,    rest<get_tokens>},
    {verb::post,    "/v1/admin/accounts/{name}/tokens",      access::operators, body::message, rest<post_token>, keyed::secret},
    {verb::get,     "/v1/admin/accounts/{name}/devices",     access::operators, body::none,    rest<get_devices>},
    {verb::post,    "/v1/admin/accounts/{name}/devices",     access::operators, body::message, rest<post_device>, keyed::secret},
    {verb::delete_, "/v1/admin/accounts/{name}/devices/{id}", access::operators, body::none,   rest<delete_device>},
    {verb::get,     "/v1/admin/accounts/{name}/manage",      access::operators, body::none,    admin<get_conversion>},
    {verb::post,    "/v1/admin/accounts/{name}/manage",      access::operators, body::message, admin<post_conversion>},
    {verb::delete_, "/v1/admin/accounts/{name}/manage",      access::operators, body::none,    admin<delete_conversion>},
    {verb::post,    "/v1/admin/accounts/{name}/import",      access::operators, body::message, admin<post_import>},
    {verb::post,    "/v1/admin/accounts/{name}/numbers",     access::operators, body::message, admin<post_numbers>},
    {verb::get,     "/v1/admin/tokens",                      access::operators, body::none,    rest<get_operator_tokens>},
    {verb::post,    "/v1/admin/tokens",                      access::operators, body::message, rest<post_operator_token>, keyed::secret},
    {verb::delete_, "/v1/admin/tokens/{id}",                 access::operators, body::none,    rest<delete_any_token>},
    {verb::get,     "/v1/admin/slots",                       access::operators, body::none,    admin<get_slots>},
    {verb::put,     "/v1/admin/client",                      access::operators, body::none,    admin<put_client>},
    {verb::post,    "/v1/admin/client/versions/{version}",   access::operators, body::segment, admin<post_client_version>},
    {verb::post,    "/v1/admin/client/snapshot/{version}",   access::operators, body::snapshot, admin<post_client_snapshot>},
    {verb::get,     "/v1/admin/reaper",                      access::operators, body::none,    admin<get_reaper>},
    {verb::post,    "/v1/admin/reaper/sweep",                access::operators, body::none,    admin<post_sweep>},
    {verb::get,     "/v1/admin/audit",                       access::operators, body::none,    admin<get_audit>},
    {verb::post,    "/v1/admin/master-key/reseal",           access::operators, body::none,    admin<post_reseal>},
    {verb::get,     "/v1/admin/backups",                     access::operators, body::none,    admin<get_backups>},
    {verb::post,    "/v1/admin/backups",                     access::operators, body::message, admin<post_backup>},

    {verb::get,     "/",                                     access::anyone, body::none,     web<get_front>, keyed::no, true},
    {verb::get,     "/v1",                                   access::anyone, body::none,     ops<get_api>, keyed::no, true},
    {verb::get,     "/openapi.yaml",                         access::anyone, body::none,     ops<get_openapi_yaml>, keyed::no, true},
    {verb::get,     "/openapi.json",                         access::anyone, body::none,     ops<get_openapi_json>, keyed::no, true},
    {verb::get,     "/callsign.proto",                       access::anyone, body::none,     ops<get_proto>, keyed::no, true},
    {verb::get,     "/livez",                                access::anyone, body::none,     ops<get_livez>},
    {verb::get,     "/readyz",                               access::anyone, body::none,     ops<get_readyz>},
    {verb::get,     "/metrics",                              access::anyone, body::none,     ops<get_metrics>},
    {verb::get,     "/assets/{version}/{file}",              access::anyone, body::none,     web<get_asset>, keyed::no, true},
    {verb::get,     "/{ref}",                                access::anyone, body::none,     web<get_page>, keyed::no, true, is_task_ref},
    // clang-format on
};

}  // namespace

std::span<const route> all_routes() noexcept {
    return routes;
}

}  // namespace callsign::api
