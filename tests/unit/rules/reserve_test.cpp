// Phase 1: a creation is validated against the current state, a retry is not.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/tasks.hpp>

namespace callsign {
namespace {

struct creations : rules_test {
    reserve wanted(std::string key) const {
        return {owner, std::move(key), sha256("wanted"), {}, "", {{"description", "x"}}, {}};
    }
    account_id owner = make("a");
};

TEST_F(creations, invalid_dependencies_are_reported_and_no_slot_is_created) {
    import(owner, 1, 1);
    reserve c = wanted("k");
    c.depends = {uuid_of(1), *parse_task_ref("SYN-9"), *parse_task_ref("X-1")};
    const auto unmet = std::get<depends_unmet>(run(c)).refs;
    ASSERT_EQ(unmet.size(), 2u);
    EXPECT_EQ(unmet[0].second, ref_fault::task_not_found);
    EXPECT_EQ(unmet[1].second, ref_fault::unknown_prefix);
    EXPECT_EQ(store_->totals()->slots.pending, 0);
    c.depends = {*parse_task_ref("SYN-1")};
    for (const bool resumed : {false, true}) {
        const auto reserved = std::get<reserve::reserved>(run(c));
        EXPECT_EQ(reserved.resumed, resumed);
        EXPECT_EQ(reserved.depends, std::vector<uuid>{uuid_of(1)});
    }
}

TEST_F(creations, a_settled_key_keeps_its_response_and_a_pending_one_does_not) {
    import(owner, 1, 1);
    reserve c = wanted("k");
    c.depends = {uuid_of(1)};
    c.attributes["until"] = std::to_string(now_.time_since_epoch().count() / 1000 + 1);
    const auto first = std::get<reserve::reserved>(run(c));
    now_ += std::chrono::hours{1};  // `until` has passed
    EXPECT_TRUE(std::holds_alternative<task_not_valid>(run(c)));
    run(fulfil{first.slot, "", {{"description", "x"}}});
    EXPECT_TRUE(std::get<receipted>(run(c)).replayed);
    edit_task purge{owner, uuid_of(1)};
    purge.purge = true;
    run(purge);
    EXPECT_TRUE(std::get<receipted>(run(c)).replayed);
    c.fingerprint = sha256("another");
    EXPECT_TRUE(std::holds_alternative<key_conflict>(run(c)));
}

// Additions by the server count, too: a created task can always be edited later.
TEST_F(creations, a_task_that_would_be_too_large_gets_no_slot) {
    const auto of_bytes = [&](std::size_t bytes) {
        reserve c = wanted("k" + std::to_string(bytes));
        c.attributes["description"] = std::string(bytes - 11, 'x');
        return c;
    };
    EXPECT_TRUE(std::holds_alternative<task_too_large>(run(of_bytes(task_bytes_max + 1))));
    EXPECT_TRUE(std::holds_alternative<task_too_large>(run(of_bytes(task_bytes_max))));
    EXPECT_EQ(store_->totals()->slots.pending, 0);
    const reserve largest = of_bytes(task_bytes_max - 200);
    const auto slot = std::get<reserve::reserved>(run(largest)).slot;
    const auto made = std::get<receipted>(run(fulfil{slot, "", largest.attributes}));
    const auto t = tasks::find(*store_->begin_read(), owner, made.receipt.uuid);
    EXPECT_LE(size_of(t->attributes), task_bytes_max);

    import(owner, 1, 6);
    reserve depends = of_bytes(task_bytes_max - 199);
    for (int n = 1; n <= 6; ++n) depends.depends.push_back(uuid_of(n));
    EXPECT_TRUE(std::holds_alternative<task_too_large>(run(depends)));
    reserve many = wanted("many");
    for (std::size_t n = 0; n <= task_attributes_max; ++n) many.attributes[std::to_string(n)] = "";
    EXPECT_TRUE(std::holds_alternative<task_too_large>(run(many)));
    EXPECT_EQ(store_->totals()->slots.pending, 0);
}

// The event of a retry has the age and the state of its slot.
TEST_F(creations, each_retry_has_an_event) {
    const auto told = [&] {
        std::vector<events::retry_seen> all;
        for (const event& e : told_) {
            if (const auto* seen = std::get_if<events::retry_seen>(&e)) all.push_back(*seen);
        }
        told_.clear();
        return all;
    };
    const auto slot = std::get<reserve::reserved>(run(wanted("k"))).slot;
    EXPECT_TRUE(told().empty());
    now_ += std::chrono::seconds{41} - milliseconds{1};
    run(wanted("k"));
    auto seen = told();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].account, owner);
    EXPECT_EQ(seen[0].accounts, account_class::local);
    EXPECT_EQ(seen[0].slot, slot);
    EXPECT_EQ(seen[0].found, slot_state::pending);
    EXPECT_EQ(seen[0].after, std::chrono::seconds{41});

    run(fulfil{slot, "", {{"description", "x"}}});
    told();
    run(wanted("k"));
    seen = told();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].found, slot_state::committed);

    run(wanted("late"));
    const auto swept = run(reconcile_pending{{}, 10, milliseconds{-1}, {}});
    EXPECT_EQ(swept.failed_of.local, 1);
    EXPECT_EQ(swept.failed_of.remote, 0);
    run(wanted("late"));
    seen = told();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].found, slot_state::failed);
}

// A rejected request, or one with another payload, is not a retry.
TEST_F(creations, other_requests_with_the_key_have_no_event) {
    run(wanted("k"));
    reserve other = wanted("k");
    other.fingerprint = sha256("other");
    EXPECT_TRUE(std::holds_alternative<key_conflict>(run(other)));
    reserve rejected = wanted("k");
    rejected.depends = {uuid_of(77)};
    EXPECT_TRUE(std::holds_alternative<depends_unmet>(run(rejected)));
    EXPECT_FALSE(was_told<events::retry_seen>());
}

}  // namespace
}  // namespace callsign
