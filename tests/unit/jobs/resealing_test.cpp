// Goal: after a rotation of the master key no data needs the former key. Method: secrets of each
// kind, more than one step handles, encrypted with either key.

#include "support/test_server.hpp"

#include <callsign/jobs/resealing.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/secrets.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

seal::key key_of(std::uint8_t first) {
    return seal::key(std::array<std::uint8_t, seal::key_bytes>{first});
}

constexpr std::array<std::uint8_t, seal::nonce_bytes> nonce{1};

struct resealing : ::testing::Test {
    std::string sealed(const seal::key_ring& ring, seal::purpose purpose, account_id account,
                       const uuid& of) const {
        return ring.seal({purpose, account, of}, nonce, std::array<std::uint8_t, 32>{9});
    }
    static uuid uuid_of(int n) { return make_uuid_v7({}, 1, static_cast<std::uint64_t>(n)); }
    void add_device(int n, const seal::key_ring& ring) {
        create_device c{.account = account,
                        .name = "d" + std::to_string(n),
                        .client_id = uuid_of(n),
                        .sealed_key = sealed(ring, seal::purpose::device_key, account, uuid_of(n))};
        const auto made = h.run(h.engine().submit(std::move(c)));
        ASSERT_TRUE(made && std::holds_alternative<device>(*made));
    }
    jobs::resealed reseal() { return *h.run(jobs::reseal_all(with)); }
    bool opens(const seal::key_ring& ring, secret_kind kind, seal::purpose purpose) {
        const auto all = h.look([&](read_tx& tx) { return secrets::of(tx, kind, 0, 1000); });
        bool all_open = !all.empty();
        for (const sealed_secret& s : all) {
            const account_id owner = kind == secret_kind::remote_key ? account_id{} : s.account;
            const auto opened = ring.open({purpose, owner, s.of}, s.sealed);
            all_open = all_open && std::holds_alternative<seal::secret_bytes>(opened);
        }
        return all_open;
    }

    test_server h;
    account_id account = h.make_account("syn", "SYN").id;
    const seal::key_ring former{key_of(1)};
    const seal::key_ring fresh{key_of(2)};
    const seal::key_ring both{[] {
        std::vector<seal::key> keys;
        keys.push_back(key_of(2));
        keys.push_back(key_of(1));
        return keys;
    }()};
    jobs::board board;
    jobs::context with{h.engine(), h.entropy(), &both, board};
};

TEST_F(resealing, leaves_nothing_encrypted_with_the_former_key) {
    for (int n = 1; n <= 230; ++n) add_device(n, n % 3 == 0 ? fresh : former);
    const uuid hook = uuid_of(1001);
    create_webhook w{.account = account,
                     .uuid = hook,
                     .url = "https://example.com/",
                     .filter = "",
                     .sealed_secret = sealed(former, seal::purpose::webhook_secret, account, hook),
                     .start = {{0, 0}, "0123456789ab"},
                     .count_max = 1};
    ASSERT_TRUE(h.run(h.engine().submit(std::move(w))));
    const uuid client = uuid_of(1002);
    create_account there{"there", "TH", "t", sha256("t")};
    there.remote = create_account::remote_endpoint{
        "https://example.com/", client,
        sealed(former, seal::purpose::remote_key, account_id{}, client)};
    ASSERT_TRUE(h.run(h.engine().submit(std::move(there))));

    const auto done = reseal();
    EXPECT_EQ(done.resealed, 230 - 76 + 2);
    EXPECT_EQ(done.current, 76);
    EXPECT_EQ(done.unopened, 0);
    EXPECT_TRUE(opens(fresh, secret_kind::device_key, seal::purpose::device_key));
    EXPECT_TRUE(opens(fresh, secret_kind::webhook_secret, seal::purpose::webhook_secret));
    EXPECT_TRUE(opens(fresh, secret_kind::remote_key, seal::purpose::remote_key));
    const auto again = reseal();
    EXPECT_EQ(again.resealed, 0);
    EXPECT_EQ(again.current, 232);
}

TEST_F(resealing, skips_secrets_that_no_key_decrypts) {
    add_device(1, seal::key_ring{key_of(3)});
    add_device(2, former);
    const auto before =
        h.look([&](read_tx& tx) { return devices::find(tx, uuid_of(1))->sealed_key; });
    const auto done = reseal();
    EXPECT_EQ(done.unopened, 1);
    EXPECT_EQ(done.resealed, 1);
    EXPECT_EQ(h.look([&](read_tx& tx) { return devices::find(tx, uuid_of(1))->sealed_key; }),
              before);
}

}  // namespace
}  // namespace callsign::testing
