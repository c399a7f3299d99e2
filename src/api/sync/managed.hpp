#pragma once
// The sync routes for devices of managed accounts: what they send is opened with their key, what
// they read is sealed with it (jobs/segments.hpp). Nobody is ever told of a conflict.

#include "sync_call.hpp"

namespace callsign::api {

http_response refuse_revoked();

awaitable<http_response> add_managed_version(sync_context& s, request_context& c,
                                             known_client client);
awaitable<http_response> next_managed_version(sync_context& s, request_context& c,
                                              known_client client);
awaitable<http_response> add_managed_snapshot(sync_context& s, request_context& c,
                                              known_client client);
awaitable<http_response> managed_snapshot(sync_context& s, request_context& c, known_client client);

}  // namespace callsign::api
