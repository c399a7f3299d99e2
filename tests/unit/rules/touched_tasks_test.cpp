// The effect of the operations of one version on a task.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using touched = managed_account;

// Many changes of one task, as in a full segment, in any order.
TEST_F(touched, the_last_change_of_an_attribute_applies) {
    operations all{create(uuid_of(1)), update(uuid_of(1), "b", "0"), update(uuid_of(1), "z", "0")};
    send(all);
    send({update(uuid_of(1), "z", std::nullopt), update(uuid_of(1), "c", "1"),
          update(uuid_of(1), "a", "1"), update(uuid_of(1), "c", "2"),
          update(uuid_of(1), "b", std::nullopt), update(uuid_of(1), "b", "2"),
          update(uuid_of(1), "none", std::nullopt)});
    const attributes expected{{"a", "1"}, {"b", "2"}, {"c", "2"}, {"key", "SYN-1"}};
    EXPECT_EQ(find(uuid_of(1))->attributes, expected);
    send({update(uuid_of(1), "d", "3"), remove(uuid_of(1)), create(uuid_of(1)),
          update(uuid_of(1), "e", "4")});
    EXPECT_EQ(find(uuid_of(1))->attributes, (attributes{{"e", "4"}, {"key", "SYN-1"}}));
}

}  // namespace
}  // namespace callsign
