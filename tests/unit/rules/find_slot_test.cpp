// The state of a creation, by its idempotency key.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using finding_slots = managed_account;

TEST_F(finding_slots, returns_the_state_of_the_key) {
    EXPECT_FALSE(ask(find_slot{account_, "k"}));
    const auto slot = reserved("k");
    const auto pending = ask(find_slot{account_, "k"});
    ASSERT_TRUE(pending);
    EXPECT_EQ(pending->slot.state, slot_state::pending);
    EXPECT_FALSE(pending->receipt);
    const auto made = std::get<receipted>(run(fulfil{slot, "", {}})).receipt;
    EXPECT_EQ(ask(find_slot{account_, "k"})->receipt, made);
    const auto other = make("other");
    EXPECT_FALSE(ask(find_slot{other, "k"})) << "a key belongs to one account";
}

}  // namespace
}  // namespace callsign
