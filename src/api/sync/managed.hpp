#pragma once
// The sync routes for devices of managed accounts: what they send is opened with their key, what
// they read is sealed with it. Nobody is ever told of a conflict.
//
// Small segments are opened where they arrive, larger ones beside the network thread; what is read
// is sealed by the thread that has read it. No key is derived here (api/devices.cpp does that).

#include "sync_call.hpp"

namespace callsign::api {

http_response refuse_revoked();

awaitable<http_response> add_managed_version(rooms& r, call& c, sync_head asked,
                                             known_client client);
awaitable<http_response> next_managed_version(rooms& r, call& c, sync_head asked,
                                              known_client client);
awaitable<http_response> managed_snapshot(rooms& r, call& c, known_client client);

}  // namespace callsign::api
