#include <callsign/domain/slot.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

TEST(slot_state, is_read_back_from_its_text) {
    for (const slot_state state :
         {slot_state::pending, slot_state::in_flight, slot_state::committed, slot_state::failed}) {
        EXPECT_EQ(parse_slot_state(to_string(state)), state);
    }
    EXPECT_FALSE(parse_slot_state("in flight"));
}

TEST(failure_reason, has_a_text_unless_there_is_none) {
    EXPECT_EQ(to_string(failure_reason::none), "");
    EXPECT_EQ(to_string(failure_reason::window_passed), "window-passed");
    EXPECT_EQ(to_string(failure_reason::not_delivered), "not-delivered");
}

TEST(idempotency_key, is_visible_ascii) {
    EXPECT_TRUE(is_valid_idempotency_key("!"));
    EXPECT_TRUE(is_valid_idempotency_key("a\"b\\c~"));
    EXPECT_TRUE(is_valid_idempotency_key(std::string(255, 'k')));
    EXPECT_FALSE(is_valid_idempotency_key(std::string(256, 'k')));
    for (const char* bad : {"", "a b", "a\tb", "a\x7F", "\xC3\xA9"}) {
        EXPECT_FALSE(is_valid_idempotency_key(bad)) << bad;
    }
}

}  // namespace
}  // namespace callsign
