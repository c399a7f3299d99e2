#pragma once
// A managed account, and replicas that sync with it.

#include "support/answer_json.hpp"
#include "support/carry_out.hpp"
#include "support/sync_client.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/seal/envelope.hpp>
#include <callsign/wire/segment.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace callsign::testing {

using operations = std::vector<operation>;

inline std::shared_ptr<const seal::key_ring> master_key(std::uint8_t first) {
    const std::array<std::uint8_t, seal::key_bytes> bytes{first, 1, 2, 3};
    return std::make_shared<const seal::key_ring>(seal::key(bytes));
}

inline uuid task_id_of(int n) {
    return make_uuid_v7(time_point{milliseconds{1'700'000'000'000}}, 1,
                        static_cast<std::uint64_t>(n));
}

inline operations new_task(int n, const std::string& description) {
    const precise_time at{std::chrono::seconds{1'700'000'000}};
    return {{operation_kind::create, task_id_of(n), {}, {}, {}},
            {operation_kind::update, task_id_of(n), "description", description, at}};
}

// The bodies of one replica. Its key is derived once for all tests, since that is slow.
class replica {
  public:
    replica(std::string client, const std::string& secret)
        : client_(std::move(client)), key_(derive(secret, client_)) {}

    const std::string& client() const { return client_; }

    std::string sealed(const std::string& version, const std::string& text) const {
        const std::array<std::uint8_t, seal::nonce_bytes> nonce{9};
        return seal::seal_body(key_, *parse_uuid(version), nonce, text);
    }
    std::string segment(const std::string& parent, const operations& all) const {
        return sealed(parent, wire::encode_segment(all));
    }
    operations opened(const std::string& parent, const std::string& body) const {
        const auto text = seal::open_body(key_, *parse_uuid(parent), body);
        if (!std::holds_alternative<std::string>(text)) return {};
        return std::get<operations>(wire::decode_segment(std::get<std::string>(text)));
    }
    task_map opened_snapshot(const std::string& version, const std::string& body) const {
        const auto text = seal::open_body(key_, *parse_uuid(version), body);
        return std::get<task_map>(wire::decode_snapshot(std::get<std::string>(text)));
    }

  private:
    static seal::key derive(const std::string& secret, const std::string& client) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(secret.data());
        return seal::derive_key({bytes, secret.size()}, *parse_uuid(client));
    }

    std::string client_;
    seal::key key_;
};

struct managed_sync : ::testing::Test {
    std::unique_ptr<test_server> restart(std::shared_ptr<const seal::key_ring> master) {
        test_server_options options{.disk = disk.get()};
        options.service.master_key = std::move(master);
        options.service.sync.turnstile = milliseconds{0};
        options.engine.synced_task_bytes_max = synced_task_bytes_max;
        return std::make_unique<test_server>(std::move(options));
    }

    replica add_device(const std::string& name) {
        const auto response =
            h->call(post("/v1/admin/accounts/syn/devices", R"({"name":")" + name + "\"}", root));
        EXPECT_EQ(response.status, 201u) << response.body;
        const auto made = body_of(response);
        device_ids[name] = text_of(made.at("deviceId"));
        return {text_of(made.at("clientId")), text_of(made.at("encryptionSecret"))};
    }

    net::http_response send(const replica& from, const std::string& parent, const operations& all) {
        return h->call(add_version(from.client(), parent, from.segment(parent, all)));
    }
    // Sends a version; returns its id.
    std::string sent(const replica& from, const std::string& parent, const operations& all) {
        const auto response = send(from, parent, all);
        EXPECT_EQ(response.status, 200u) << response.body;
        EXPECT_EQ(header(response, "X-Snapshot-Request"), "");
        return std::string(header(response, "X-Version-Id"));
    }
    // Pulls to the end of the chain and applies all operations.
    std::string pull(const replica& by, std::string from, task_map& tasks) {
        for (;;) {
            const auto response = h->call(child_of(by.client(), from));
            if (response.status == 404) return from;
            EXPECT_EQ(response.status, 200u) << response.body;
            EXPECT_EQ(response.content_type, segment_type);
            EXPECT_EQ(header(response, "X-Parent-Version-Id"), from);
            for (const auto& o : by.opened(from, response.body)) EXPECT_TRUE(carry_out(tasks, o));
            from = header(response, "X-Version-Id");
        }
    }
    std::int64_t seq() {
        auto question = [](read_tx& tx) { return accounts::find(tx, "syn")->head.seq; };
        return h->look(question);
    }

    std::size_t synced_task_bytes_max = 2 * task_bytes_max;
    std::unique_ptr<strict_memory_store> disk = make_memory_store();
    std::unique_ptr<test_server> h = restart(master_key(1));
    test_server::made_account syn = h->make_account("syn", "SYN");
    std::string root = h->operator_token();
    std::map<std::string, std::string> device_ids;
};

}  // namespace callsign::testing
