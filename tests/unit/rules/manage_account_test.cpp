// An opaque account becomes managed.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using converted_account = managed_account;

// A version is read whole by whoever reads it: the keys of a large account come in several.
TEST_F(converted_account, an_opaque_account_gets_its_keys_behind_its_history) {
    constexpr int count = 10'001;
    const uuid client = uuid_of(903);
    manage_account c;
    c.account = account_ = run(register_client{client}).account.id;
    run(add_sealed_version{client, {}, "sealed", false, account_});
    c.head = head();
    c.history.push_back({1, c.head.version, {}, now_, {}});
    for (int n = 1; n <= count; ++n) {
        c.history[0].operations.push_back(create(uuid_of(n)));
        c.tasks.push_back({uuid_of(n), 1, now_, {}});
    }
    c.device_name = "shared";
    c.sealed_key = "sealed";
    const auto answer = run(c);
    EXPECT_EQ(std::get<manage_account::managed>(answer).tasks, count);
    const auto all = chain();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[1].operations.size(), count - 1u);
    ASSERT_EQ(all[2].operations.size(), 1u);
    EXPECT_EQ(all[2].operations[0].value, key_of(*find(uuid_of(count))->numbered));
    EXPECT_EQ(find(uuid_of(1))->last_seq, 2);
    EXPECT_EQ(find(uuid_of(count - 1))->last_seq, 2);
    EXPECT_EQ(find(uuid_of(count))->last_seq, 3);
    EXPECT_EQ(find(uuid_of(count))->numbered->number, count);
}

}  // namespace
}  // namespace callsign
