#pragma once
// An opaque account, and requests of its clients in TaskChampion's sync protocol.

#include "api/sync/sync_call.hpp"
#include "support/sync_client.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace callsign::testing {

inline api::sync_options open_to_all() {
    api::sync_options options;
    options.open_registration = true;
    options.turnstile = milliseconds{0};
    return options;
}

struct sync : ::testing::Test {
    explicit sync(api::sync_options options = open_to_all())
        : h({.service = {.sync = std::move(options)}}) {}

    // Creates an opaque account with `n` versions; returns the parent of the first one and their
    // ids.
    std::vector<std::string> make_chain(int n, const std::string& first_parent = nil_id) {
        std::vector<std::string> ids{first_parent};
        for (int i = 0; i < n; ++i) ids.push_back(add(ids.back()));
        return ids;
    }
    std::string add(const std::string& parent, const std::string& body = "sealed") {
        const auto response = h.call(add_version(client, parent, body));
        EXPECT_EQ(response.status, 200u) << response.body;
        return std::string(header(response, "X-Version-Id"));
    }
    std::string urgency_of_next(const std::string& parent) {
        return std::string(header(h.call(add_version(client, parent, "x")), "X-Snapshot-Request"));
    }
    void expect_no_version_headers(const net::http_response& response) {
        EXPECT_EQ(header(response, "X-Version-Id"), "");
        EXPECT_EQ(header(response, "X-Parent-Version-Id"), "");
    }
    chain_head head() {
        auto question = [this](read_tx& tx) {
            const auto known = callsign::devices::find(tx, *parse_uuid(client));
            return known ? accounts::head_of(tx, known->account) : chain_head{};
        };
        return h.look(question);
    }

    test_server h;
    const std::string client = some_id(1);
};

struct closed_sync : sync {
    closed_sync() : sync({}) {}
};

}  // namespace callsign::testing
