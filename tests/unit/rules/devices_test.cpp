// Devices of managed accounts: which can be added, and what is kept of revoked ones.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/devices.hpp>

namespace callsign {
namespace {

using devices_of_account = managed_account;

TEST_F(devices_of_account, have_a_name_and_a_client_id_of_their_own) {
    const auto add = [&](const char* name, int client, std::size_t max = 1000) {
        return run(create_device{account_, name, uuid_of(client), "sealed", max});
    };
    EXPECT_TRUE(std::holds_alternative<client_id_taken>(add("tablet", 901)));
    EXPECT_TRUE(std::holds_alternative<name_taken>(add("laptop", 903)));
    EXPECT_TRUE(std::holds_alternative<create_device::too_many>(add("tablet", 903, 2)));
    const auto tablet = std::get<device>(add("tablet", 903, 3));
    const auto revoked = run(revoke_device{account_, tablet.id});
    const time_point at = *std::get<device>(revoked).revoked_at;
    EXPECT_EQ(std::get<device>(run(revoke_device{account_, tablet.id})).revoked_at, at)
        << "the first instant stays";
    EXPECT_TRUE(std::holds_alternative<client_id_taken>(add("tablet", 903)));
    EXPECT_TRUE(std::holds_alternative<device>(add("tablet", 904, 3))) << "its name is free again";
}

TEST_F(devices_of_account, exist_in_managed_accounts_and_belong_to_one) {
    const auto vault = make("vault", uuid_of(910));
    EXPECT_TRUE(std::holds_alternative<account_is_opaque>(
        run(create_device{vault, "tablet", uuid_of(903), "sealed"})));
    const auto own = devices::find(*store_->begin_read(), uuid_of(910))->id;
    EXPECT_TRUE(std::holds_alternative<account_is_opaque>(run(revoke_device{vault, own})));
    const auto other = make("other");
    const auto theirs = devices::find(*store_->begin_read(), laptop)->id;
    EXPECT_TRUE(
        std::holds_alternative<revoke_device::no_such_device>(run(revoke_device{other, theirs})));
    EXPECT_TRUE(std::holds_alternative<no_such_account>(
        run(create_device{account_id{99}, "tablet", uuid_of(903), "sealed"})));
}

}  // namespace
}  // namespace callsign
