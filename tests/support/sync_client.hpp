#pragma once
// A TaskChampion replica's requests, for a test server (test_server.hpp).

#include "support/sync_words.hpp"
#include "support/test_server.hpp"

#include <callsign/base/uuid.hpp>

#include <string>

namespace callsign::testing {

inline header_list client_header(const std::string& client) {
    if (client.empty()) return {};
    return {{"X-Client-Id", client}};
}

inline net::http_request add_version(const std::string& client, const std::string& parent,
                                     std::string body, const std::string& type = segment_type) {
    header_list headers = client_header(client);
    headers.emplace_back("Content-Type", type);
    return make_request(boost::beast::http::verb::post, "/v1/client/add-version/" + parent,
                        std::move(body), headers);
}

inline net::http_request child_of(const std::string& client, const std::string& parent) {
    return make_request(boost::beast::http::verb::get, "/v1/client/get-child-version/" + parent, {},
                        client_header(client));
}

inline net::http_request add_snapshot(const std::string& client, const std::string& version,
                                      std::string body, const std::string& type = snapshot_type) {
    header_list headers = client_header(client);
    headers.emplace_back("Content-Type", type);
    return make_request(boost::beast::http::verb::post, "/v1/client/add-snapshot/" + version,
                        std::move(body), headers);
}

inline net::http_request snapshot_of(const std::string& client) {
    return make_request(boost::beast::http::verb::get, "/v1/client/snapshot", {},
                        client_header(client));
}

// Arbitrary UUIDs, distinguished by a number.
inline std::string some_id(unsigned n) {
    uuid id = make_uuid_v7(time_point{milliseconds{1'600'000'000'000}}, n, n);
    id.data[6] = static_cast<std::uint8_t>((id.data[6] & 0x0F) | 0x40);  // version 4
    return to_string(id);
}

}  // namespace callsign::testing
