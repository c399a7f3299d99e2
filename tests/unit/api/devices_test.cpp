// Devices of managed accounts, as operators and accounts see them. Goal also: an added device costs
// one key derivation, other requests none. Method: the library's PBKDF2 calls are counted.

#include "support/answer_json.hpp"
#include "support/pbkdf2.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/devices.hpp>
#include <callsign/seal/at_rest.hpp>
#include <callsign/seal/envelope.hpp>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <set>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;
using boost::json::object;

constexpr std::array<std::uint8_t, seal::key_bytes> master_bytes{0x4B, 1, 2, 3};

const std::string operators_path = "/v1/admin/accounts/syn/devices";

test_server_options with_master_key() {
    test_server_options options;
    options.service.master_key = std::make_shared<const seal::key_ring>(seal::key(master_bytes));
    return options;
}

struct devices : ::testing::Test {
    explicit devices(test_server_options options = with_master_key()) : h(std::move(options)) {}

    net::http_response add(std::string_view name, const header_list& more = {}) {
        return h.call(add_request(name, more));
    }
    net::http_request add_request(std::string_view name, const header_list& more = {}) const {
        header_list headers = bearer(root);
        headers.emplace_back("Content-Type", "application/json");
        headers.insert(headers.end(), more.begin(), more.end());
        return make_request(verb::post, operators_path, R"({"name":")" + std::string(name) + "\"}",
                            headers);
    }
    net::http_response revoke(const std::string& path, const object& made,
                              const std::string& token) {
        return h.call(make_request(verb::delete_, path + "/" + text_of(made.at("deviceId")), "",
                                   bearer(token)));
    }
    boost::json::array list(const std::string& path, const std::string& token) {
        return body_of(h.call(get(path, token))).at("devices").as_array();
    }
    device stored(const object& made) {
        const auto id = *parse_uuid(text_of(made.at("clientId")));
        auto question = [id](read_tx& tx) { return callsign::devices::find(tx, id); };
        return h.look(question).value();
    }

    // The number of derivations in this test.
    int derived() const { return derivations() - derived_before; }

    test_server h;
    test_server::made_account syn = h.make_account("syn", "SYN");
    std::string root = h.operator_token();
    int derived_before = derivations();
};

struct devices_without_master_key : devices {
    devices_without_master_key() : devices(test_server_options{}) {}
};

TEST_F(devices, a_device_is_added_and_its_secret_is_shown_once) {
    const auto response = add("laptop", {{"Host", "tasks.example.org"}});
    ASSERT_EQ(response.status, 201u) << response.body;
    EXPECT_EQ(header(response, "Cache-Control"), "no-store");
    const object made = body_of(response);
    const std::string id = text_of(made.at("clientId"));
    const std::string secret = text_of(made.at("encryptionSecret"));
    EXPECT_EQ(text_of(made.at("name")), "laptop");
    EXPECT_TRUE(made.contains("deviceId") && made.contains("createdAt"));
    EXPECT_EQ(id[14], '4');  // random, not time-based
    EXPECT_EQ(secret.size(), 64u);
    EXPECT_EQ(secret.find_first_not_of("0123456789abcdef"), secret.npos);
    EXPECT_EQ(text_of(made.at("taskrc")),
              "sync.server.url=http://tasks.example.org\nsync.server.client_id=" + id +
                  "\nsync.encryption_secret=" + secret +
                  "\nuda.key.type=string\nuda.key.label=Key\n");

    for (const auto& row : list(operators_path, root)) {
        EXPECT_EQ(text_of(row.at("clientId")), id);
        EXPECT_FALSE(row.as_object().contains("encryptionSecret"));
        EXPECT_FALSE(row.as_object().contains("taskrc"));
    }
    const auto gone = revoke(operators_path, made, root);
    EXPECT_EQ(gone.status, 200u);
    EXPECT_EQ(gone.body.find(secret), gone.body.npos);
    EXPECT_EQ(derived(), 1);
}

TEST_F(devices, the_stored_key_is_encrypted_for_this_device_only) {
    const object made = body_of(add("laptop"));
    const device d = stored(made);
    const std::string secret = text_of(made.at("encryptionSecret"));
    EXPECT_EQ(d.sealed_key.size(), seal::envelope_bytes + seal::key_bytes);
    EXPECT_EQ(d.sealed_key.find(secret.substr(0, 8)), d.sealed_key.npos);

    const seal::key master{std::span(master_bytes)};
    const seal::belongs_to place{seal::purpose::device_key, syn.id, d.client_id};
    const auto opened = seal::open_at_rest(master, place, d.sealed_key);
    ASSERT_TRUE(std::holds_alternative<seal::secret_bytes>(opened));
    // The derivation of a client.
    const auto* const text = reinterpret_cast<const std::uint8_t*>(secret.data());
    const seal::key derived = seal::derive_key({text, secret.size()}, d.client_id);
    EXPECT_TRUE(std::ranges::equal(std::get<seal::secret_bytes>(opened).bytes(), derived.bytes()));

    const seal::belongs_to elsewhere{seal::purpose::device_key, account_id{syn.id.value + 1},
                                     d.client_id};
    EXPECT_TRUE(std::holds_alternative<seal::open_error>(
        seal::open_at_rest(master, elsewhere, d.sealed_key)));
}

// The master key encrypts the keys of all devices.
TEST_F(devices, nonces_and_secrets_are_unique) {
    std::set<std::string> nonces{std::string(seal::nonce_bytes, '\0')};
    std::vector<std::string> secrets;
    constexpr std::size_t count = 4;
    for (std::size_t n = 0; n < count; ++n) {
        const object made = body_of(add("device-" + std::to_string(n)));
        secrets.push_back(text_of(made.at("encryptionSecret")));
        nonces.insert(stored(made).sealed_key.substr(1, seal::nonce_bytes));
    }
    EXPECT_EQ(nonces.size(), count + 1);
    // All bytes of a secret are random.
    for (std::size_t at = 0; at < secrets[0].size(); at += 2) {
        std::set<std::string> bytes;
        for (const std::string& secret : secrets) bytes.insert(secret.substr(at, 2));
        EXPECT_GT(bytes.size(), 1u) << "byte " << at / 2;
    }
}

TEST_F(devices, a_forwarded_protocol_is_ignored_without_a_trusted_proxy) {
    const object made =
        body_of(add("laptop", {{"Host", "tasks.example.org"}, {"X-Forwarded-Proto", "https"}}));
    EXPECT_TRUE(
        text_of(made.at("taskrc")).starts_with("sync.server.url=http://tasks.example.org\n"));
}

TEST_F(devices, a_rejected_request_costs_no_derivation) {
    h.run(h.engine().submit(create_device{
        .account = syn.id, .name = "laptop", .client_id = uuid{{1}}, .sealed_key = "k"}));
    EXPECT_EQ(code_of(add("laptop")), "name-taken");
    EXPECT_EQ(add("laptop").status, 409u);
    EXPECT_EQ(add("a b").status, 400u);
    EXPECT_EQ(add("").status, 400u);
    EXPECT_EQ(code_of(h.call(post("/v1/admin/accounts/nope/devices", R"({"name":"a"})", root))),
              "account-not-found");
    EXPECT_EQ(h.call(post(operators_path, R"({"nmae":"a"})", root)).status, 400u);
    EXPECT_EQ(h.call(post(operators_path, R"({"name":"a"})", syn.token)).status, 403u);
    EXPECT_EQ(derived(), 0);
}

TEST_F(devices, an_account_has_a_maximum) {
    const auto most = create_device{}.active_max;
    for (std::size_t n = 0; n < most; ++n) {
        h.run(h.engine().submit(create_device{.account = syn.id,
                                              .name = "d" + std::to_string(n),
                                              .client_id = make_uuid_v7({}, 0, n + 1),
                                              .sealed_key = "k"}));
    }
    const auto rejected = add("one-more");
    EXPECT_EQ(rejected.status, 409u);
    EXPECT_EQ(code_of(rejected), "too-many-devices");
    EXPECT_EQ(derived(), 0);
}

// The second derivation waits for the first.
TEST_F(devices, two_that_are_added_at_once_both_are) {
    const auto one = h.start(add_request("one"));
    const auto two = h.start(add_request("two"));
    h.settle();
    ASSERT_TRUE(*one && *two);
    EXPECT_EQ((*one)->status, 201u);
    EXPECT_EQ((*two)->status, 201u);
    EXPECT_EQ(derived(), 2);
}

TEST_F(devices, a_revoked_device_stays_revoked_and_its_name_is_free) {
    const object first = body_of(add("laptop"));
    const auto gone = revoke(operators_path, first, root);
    ASSERT_EQ(gone.status, 200u) << gone.body;
    h.advance(std::chrono::seconds{5});
    EXPECT_EQ(revoke(operators_path, first, root).body, gone.body);  // the first instant

    const object second = body_of(add("laptop"));
    EXPECT_NE(second.at("clientId"), first.at("clientId"));
    EXPECT_NE(second.at("encryptionSecret"), first.at("encryptionSecret"));
    const auto all = list(operators_path, root);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].at("revokedAt"), body_of(gone).at("revokedAt"));
    EXPECT_FALSE(all[1].as_object().contains("revokedAt"));
    EXPECT_EQ(derived(), 2);
}

TEST_F(devices, an_account_manages_its_own) {
    const auto head = h.make_token("syn", token_scope::admin);
    const auto response = h.call(post("/v1/devices", R"({"name":"phone"})", head));
    ASSERT_EQ(response.status, 201u) << response.body;
    const object made = body_of(response);
    EXPECT_EQ(list("/v1/devices", head), list(operators_path, root));
    EXPECT_EQ(h.call(post("/v1/devices", R"({"name":"tv"})", syn.token)).status, 403u);
    EXPECT_EQ(h.call(get("/v1/devices", syn.token)).status, 403u);

    // A device of another account does not exist for this one.
    h.make_account("other", "OTH");
    const auto others = h.make_token("other", token_scope::admin);
    EXPECT_TRUE(list("/v1/devices", others).empty());
    EXPECT_EQ(code_of(revoke("/v1/devices", made, others)), "device-not-found");
    EXPECT_EQ(revoke("/v1/admin/accounts/other/devices", made, root).status, 404u);
    EXPECT_EQ(revoke("/v1/devices", object{{"deviceId", "x"}}, head).status, 404u);
    EXPECT_EQ(revoke("/v1/devices", made, head).status, 200u);
}

TEST_F(devices, an_opaque_account_has_none_to_manage) {
    const auto made =
        h.call(post("/v1/admin/accounts", R"({"name":"desk","prefix":"D","mode":"opaque"})", root));
    const auto id = *parse_uuid(text_of(body_of(made).at("clientId")));
    auto question = [id](read_tx& tx) { return callsign::devices::find(tx, id); };
    const device way_in = h.look(question).value();
    const auto head = h.make_token("desk", token_scope::admin);
    const std::string path = "/v1/admin/accounts/desk/devices";
    const object row{{"deviceId", std::to_string(way_in.id.value)}};
    for (const auto& rejected : {h.call(get(path, root)), h.call(get("/v1/devices", head)),
                                 h.call(post(path, R"({"name":"a"})", root)),
                                 h.call(post("/v1/devices", R"({"name":"a"})", head)),
                                 revoke(path, row, root), revoke("/v1/devices", row, head)}) {
        EXPECT_EQ(rejected.status, 409u);
        EXPECT_EQ(code_of(rejected), "account-opaque");
        EXPECT_EQ(rejected.body.find(to_string(id)), rejected.body.npos);
    }
    EXPECT_EQ(derived(), 0);
}

TEST_F(devices_without_master_key,
       nothing_is_added_and_the_error_explains_how_to_create_a_master_key) {
    const auto rejected = add("laptop");
    EXPECT_EQ(rejected.status, 409u);
    EXPECT_EQ(code_of(rejected), "no-master-key");
    EXPECT_NE(rejected.body.find("master-key new"), rejected.body.npos);
    EXPECT_TRUE(list(operators_path, root).empty());
    EXPECT_EQ(derived(), 0);
    // Other requests need no master key.
    EXPECT_EQ(h.call(post("/v1/tasks", R"({"description":"x"})", syn.token, "k")).status, 201u);
}

}  // namespace
}  // namespace callsign::testing
