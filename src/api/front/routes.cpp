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
    {verb::post,    "/v1/tasks",                             access::write,  body::message,  rest<create_task>},
    {verb::get,     "/v1/tasks",                             access::read,   body::none,     rest<list_tasks>},
    {verb::get,     "/v1/tasks/{ref}",                       access::read,   body::none,     rest<show_task>},
    {verb::patch,   "/v1/tasks/{ref}",                       access::write,  body::message,  rest<change_task>},
    {verb::delete_, "/v1/tasks/{ref}",                       access::write,  body::none,     rest<delete_task>},
    {verb::post,    "/v1/tasks/{ref}:complete",              access::write,  body::none,     rest<complete_task>},
    {verb::post,    "/v1/tasks/{ref}:reopen",                access::write,  body::none,     rest<reopen_task>},
    {verb::post,    "/v1/tasks/{ref}:start",                 access::write,  body::none,     rest<start_task>},
    {verb::post,    "/v1/tasks/{ref}:stop",                  access::write,  body::none,     rest<stop_task>},
    {verb::post,    "/v1/tasks/{ref}:annotate",              access::write,  body::message,  rest<annotate_task>},
    {verb::post,    "/v1/tasks/{ref}:denotate",              access::write,  body::message,  rest<denotate_task>},
    {verb::post,    "/v1/tasks:batchCreate",                 access::write,  body::message,  rest<create_tasks>},
    {verb::post,    "/v1/tasks:batchUpdate",                 access::write,  body::message,  rest<change_tasks>},
    {verb::get,     "/v1/changes",                           access::read,   body::none,     feed<list_changes>},
    {verb::get,     "/v1/changes/stream",                    access::read,   body::none,     feed<stream_changes>, true},
    {verb::get,     "/v1/changes/socket",                    access::read,   body::none,     feed<open_feed_socket>, true},
    {verb::post,    "/v1/keys",                              access::write,  body::message,  rest<create_key>},
    {verb::get,     "/v1/slots/{key}",                       access::read,   body::none,     rest<show_slot>},

    {verb::post,    "/v1/client/add-version/{parent}",       access::device, body::segment,  sync<add_version>},
    {verb::get,     "/v1/client/get-child-version/{parent}", access::device, body::none,     sync<get_child_version>},
    {verb::post,    "/v1/client/add-snapshot/{version}",     access::device, body::snapshot, sync<add_snapshot>},
    {verb::get,     "/v1/client/snapshot",                   access::device, body::none,     sync<get_snapshot>},

    {verb::get,     "/v1/account",                           access::read,   body::none,     rest<show_account>},
    {verb::get,     "/v1/series",                            access::read,   body::none,     rest<list_series>},
    {verb::post,    "/v1/series",                            access::write,  body::message,  rest<add_series>},
    {verb::patch,   "/v1/series/{prefix}",                   access::write,  body::message,  rest<change_series>},
    {verb::get,     "/v1/tokens",                            access::admin,  body::none,     rest<list_tokens>},
    {verb::post,    "/v1/tokens",                            access::admin,  body::message,  rest<add_token>},
    {verb::delete_, "/v1/tokens/{id}",                       access::admin,  body::none,     rest<revoke_own_token>},
    {verb::get,     "/v1/devices",                           access::admin,  body::none,     rest<list_devices>},
    {verb::post,    "/v1/devices",                           access::admin,  body::message,  rest<add_device>},
    {verb::delete_, "/v1/devices/{id}",                      access::admin,  body::none,     rest<revoke_device>},
    {verb::get,     "/v1/webhooks",                          access::admin,  body::none,     webhooks<list_webhooks>},
    {verb::post,    "/v1/webhooks",                          access::admin,  body::message,  webhooks<add_webhook>},
    {verb::get,     "/v1/webhooks/{id}",                     access::admin,  body::none,     webhooks<show_webhook>},
    {verb::patch,   "/v1/webhooks/{id}",                     access::admin,  body::message,  webhooks<change_webhook>},
    {verb::delete_, "/v1/webhooks/{id}",                     access::admin,  body::none,     webhooks<remove_webhook>},
    {verb::get,     "/v1/webhooks/{id}/deliveries",          access::admin,  body::none,     webhooks<list_deliveries>},

    {verb::get,     "/v1/admin/accounts",                    access::operators, body::none,    admin<list_accounts>},
    {verb::post,    "/v1/admin/accounts",                    access::operators, body::message, admin<add_account>},
    {verb::get,     "/v1/admin/accounts/{name}",             access::operators, body::none,    admin<show_any_account>},
    {verb::patch,   "/v1/admin/accounts/{name}",             access::operators, body::message, admin<change_account>},
    {verb::delete_, "/v1/admin/accounts/{name}",             access::operators, body::none,    admin<remove_account>},
    {verb::patch,   "/v1/admin/accounts/{name}/remote",      access::operators, body::message, admin<change_remote>},
    {verb::post,    "/v1/admin/accounts/{name}/move",        access::operators, body::message, admin<move_account>},
    {verb::get,     "/v1/admin/accounts/{name}/series",      access::operators, body::none,    rest<list_series>},
    {verb::post,    "/v1/admin/accounts/{name}/series",      access::operators, body::message, rest<add_series>},
    {verb::patch,   "/v1/admin/accounts/{name}/series/{prefix}", access::operators, body::message, rest<change_series>},
    {verb::post,    "/v1/admin/accounts/{name}/series/{prefix}/resume", access::operators, body::message, admin<resume_series>},
    {verb::get,     "/v1/admin/accounts/{name}/tokens",      access::operators, body::none,    rest<list_tokens>},
    {verb::post,    "/v1/admin/accounts/{name}/tokens",      access::operators, body::message, rest<add_token>},
    {verb::get,     "/v1/admin/accounts/{name}/devices",     access::operators, body::none,    rest<list_devices>},
    {verb::post,    "/v1/admin/accounts/{name}/devices",     access::operators, body::message, rest<add_device>},
    {verb::delete_, "/v1/admin/accounts/{name}/devices/{id}", access::operators, body::none,   rest<revoke_device>},
    {verb::get,     "/v1/admin/accounts/{name}/manage",      access::operators, body::none,    admin<show_conversion>},
    {verb::post,    "/v1/admin/accounts/{name}/manage",      access::operators, body::message, admin<convert_account>},
    {verb::delete_, "/v1/admin/accounts/{name}/manage",      access::operators, body::none,    admin<cancel_conversion>},
    {verb::post,    "/v1/admin/accounts/{name}/import",      access::operators, body::message, admin<import_tasks_to>},
    {verb::post,    "/v1/admin/accounts/{name}/numbers",     access::operators, body::message, admin<import_numbers_to>},
    {verb::get,     "/v1/admin/tokens",                      access::operators, body::none,    rest<list_operator_tokens>},
    {verb::post,    "/v1/admin/tokens",                      access::operators, body::message, rest<add_operator_token>},
    {verb::delete_, "/v1/admin/tokens/{id}",                 access::operators, body::none,    rest<revoke_any_token>},
    {verb::get,     "/v1/admin/slots",                       access::operators, body::none,    admin<list_slots>},
    {verb::put,     "/v1/admin/client",                      access::operators, body::none,    admin<put_client>},
    {verb::post,    "/v1/admin/client/versions/{version}",   access::operators, body::segment, admin<import_version>},
    {verb::post,    "/v1/admin/client/snapshot/{version}",   access::operators, body::snapshot, admin<import_snapshot>},
    {verb::get,     "/v1/admin/reaper",                      access::operators, body::none,    admin<show_reaper>},
    {verb::post,    "/v1/admin/reaper/sweep",                access::operators, body::none,    admin<sweep_now>},
    {verb::get,     "/v1/admin/audit",                       access::operators, body::none,    admin<list_actions>},
    {verb::post,    "/v1/admin/master-key/reseal",           access::operators, body::none,    admin<reseal_secrets>},
    {verb::get,     "/v1/admin/backups",                     access::operators, body::none,    admin<show_backups>},
    {verb::post,    "/v1/admin/backups",                     access::operators, body::message, admin<make_backup>},

    {verb::get,     "/",                                     access::anyone, body::none,     web<show_front>, true},
    {verb::get,     "/v1",                                   access::anyone, body::none,     ops<show_api>, true},
    {verb::get,     "/openapi.yaml",                         access::anyone, body::none,     ops<show_openapi>, true},
    {verb::get,     "/livez",                                access::anyone, body::none,     ops<show_alive>},
    {verb::get,     "/readyz",                               access::anyone, body::none,     ops<show_ready>},
    {verb::get,     "/metrics",                              access::anyone, body::none,     ops<show_metrics>},
    {verb::get,     "/assets/{version}/{file}",              access::anyone, body::none,     web<show_asset>, true},
    {verb::get,     "/{ref}",                                access::anyone, body::none,     web<show_page>, true, is_task_ref},
    // clang-format on
};

}  // namespace

std::span<const route> all_routes() noexcept {
    return routes;
}

}  // namespace callsign::api
