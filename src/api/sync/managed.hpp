#pragma once
// Sync routes for devices of managed accounts. Their requests are decrypted and their responses
// encrypted with the device's key (jobs/segments.hpp). No device gets a version conflict.

#include "sync_call.hpp"

namespace callsign::api {

http_response reject_revoked();

awaitable<http_response> add_managed_version(sync_context& s, request_context& c,
                                             known_client client);
awaitable<http_response> next_managed_version(sync_context& s, request_context& c,
                                              known_client client);
awaitable<http_response> add_managed_snapshot(sync_context& s, request_context& c,
                                              known_client client);
awaitable<http_response> managed_snapshot(sync_context& s, request_context& c, known_client client);

}  // namespace callsign::api
