// Phase 2: a slot is settled with its task.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using settled_slots = managed_account;

TEST_F(settled_slots, slots_that_wait_for_a_task_are_committed_with_it) {
    const slot_id one = reserved("one", uuid_of(1)), two = reserved("two", uuid_of(1));
    send({create(uuid_of(1)), update(uuid_of(1), "description", "by sync")});
    for (const slot_id id : {one, two}) {
        const auto given = std::get<receipted>(run(fulfil{id, "", {{"description", "by REST"}}}));
        EXPECT_TRUE(given.replayed);
        EXPECT_FALSE(given.receipt.created);
        EXPECT_EQ(key_of(given.receipt), "SYN-1");
    }
    EXPECT_EQ(attribute(uuid_of(1), "description"), "by sync");
}

TEST_F(settled_slots, a_task_that_would_be_too_large_takes_no_number) {
    const slot_id large = reserved("large"), next = reserved("next");
    const attributes all{{"description", std::string(task_bytes_max, 'x')}};
    EXPECT_TRUE(std::holds_alternative<task_too_large>(run(fulfil{large, "", all})));
    const auto made = std::get<receipted>(run(fulfil{next, "", {{"description", "x"}}}));
    EXPECT_EQ(made.receipt.number, 1);
}

TEST_F(settled_slots, a_task_created_over_rest_reaches_devices_with_its_key) {
    run(fulfil{reserved("k", uuid_of(1)), "", {{"description", "by REST"}}});
    const auto next = std::get<find_child::next_version>(child_of(uuid{}));
    task_map seen;
    for (const auto& o : next.operations) EXPECT_TRUE(carry_out(seen, o));
    EXPECT_EQ(seen.at(uuid_of(1)).at("key"), "SYN-1");
    EXPECT_TRUE(std::holds_alternative<up_to_date>(child_of(next.id)));
}

}  // namespace
}  // namespace callsign
