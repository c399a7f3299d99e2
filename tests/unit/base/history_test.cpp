// The judge of histories (support/history.hpp) accepts what a server without failures could have
// done, and rejects all else.

#include "support/history.hpp"

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

creation_seen created(std::int64_t number, tick sent, tick returned, std::string key = {}) {
    const std::string n = std::to_string(number);
    return {key.empty() ? "k" + n : std::move(key),
            "receipt " + n,
            number,
            "uuid " + n,
            sent,
            returned};
}

class histories : public ::testing::Test {
  protected:
    void find(std::int64_t number, std::string value = "new") {
        all_.found(number, "uuid " + std::to_string(number), std::move(value));
    }
    void expect_legal() { EXPECT_EQ(all_.violations(), std::vector<std::string>{}); }
    void expect_illegal(const std::string& why) {
        const auto wrong = all_.violations();
        ASSERT_FALSE(wrong.empty());
        EXPECT_NE(wrong.front().find(why), std::string::npos) << wrong.front();
    }

    history all_;
};

// ---- legal ----

TEST_F(histories, creations_that_overlap_have_either_order) {
    all_.add(created(2, 1, 10));
    all_.add(created(1, 2, 9));
    all_.add(created(1, 20, 21));  // a retry
    find(1);
    find(2);
    expect_legal();
}

TEST_F(histories, a_creation_without_a_response_may_exist_or_not) {
    all_.add(creation_seen{.key = "a", .receipt = {}, .sent = 1});
    all_.add(creation_seen{.key = "b", .receipt = {}, .sent = 1});
    all_.add(created(2, 5, 6));
    find(1);
    find(2);
    expect_legal();
}

// Its first request was sent before the other one's response.
TEST_F(histories, a_late_response_may_have_a_smaller_number) {
    all_.add(creation_seen{.key = "k1", .receipt = {}, .sent = 1});
    all_.add(created(2, 2, 3));
    all_.add(created(1, 50, 51));
    find(1);
    find(2);
    expect_legal();
}

TEST_F(histories, a_write_without_a_response_may_be_seen_late_or_never) {
    all_.add(created(1, 1, 2));
    all_.add(write_seen{1, "a", 3, no_response});
    all_.add(write_seen{1, "b", 4, no_response});
    all_.add(read_seen{1, "new", 5, 6});
    all_.add(write_seen{1, "c", 7, 8});
    all_.add(read_seen{1, "c", 9, 10});
    all_.add(read_seen{1, "a", 11, 12});
    find(1, "a");
    expect_legal();
}

TEST_F(histories, reads_beside_a_write_see_either_value) {
    all_.add(created(1, 1, 2));
    all_.add(write_seen{1, "a", 3, 20});
    all_.add(read_seen{1, "new", 4, 10});
    all_.add(read_seen{1, "a", 5, 12});
    find(1, "a");
    expect_legal();
}

// ---- illegal ----

TEST_F(histories, two_receipts_of_a_key) {
    all_.add(created(1, 1, 2, "k"));
    all_.add(created(2, 3, 4, "k"));
    find(1);
    find(2);
    expect_illegal("key k has two receipts");
}

TEST_F(histories, one_number_of_two_keys) {
    all_.add(created(1, 1, 2, "a"));
    all_.add(created(1, 3, 4, "b"));
    find(1);
    expect_illegal("number 1 has two keys");
}

TEST_F(histories, an_acknowledged_task_is_lost) {
    all_.add(created(1, 1, 2));
    all_.add(created(2, 3, 4));
    find(1);
    expect_illegal("task 2 was acknowledged and is lost");
}

TEST_F(histories, a_number_is_missing) {
    all_.add(created(1, 1, 2));
    all_.add(created(3, 3, 4));
    find(1);
    find(3);
    expect_illegal("number 2 is missing");
}

TEST_F(histories, a_number_of_two_tasks) {
    find(1);
    all_.found(1, "another", "new");
    expect_illegal("number 1 has two tasks");
}

TEST_F(histories, a_task_has_another_uuid) {
    all_.add(created(1, 1, 2));
    all_.found(1, "another", "new");
    expect_illegal("task 1 has another UUID");
}

TEST_F(histories, a_later_creation_has_a_smaller_number) {
    all_.add(created(2, 1, 2));
    all_.add(created(1, 3, 4));
    find(1);
    find(2);
    expect_illegal("number 1 was assigned after 2");
}

TEST_F(histories, an_acknowledged_task_is_not_found) {
    all_.add(created(1, 1, 2));
    all_.add(read_seen{1, "", 3, 4});
    find(1);
    expect_illegal("task 1 was acknowledged and is not found");
}

TEST_F(histories, a_read_after_a_write_sees_the_value_before) {
    all_.add(created(1, 1, 2));
    all_.add(write_seen{1, "a", 3, 4});
    all_.add(read_seen{1, "new", 5, 6});
    find(1, "a");
    expect_illegal("no order explains");
}

TEST_F(histories, a_write_is_lost) {
    all_.add(created(1, 1, 2));
    all_.add(write_seen{1, "a", 3, 4});
    find(1, "new");
    expect_illegal("no order explains");
}

TEST_F(histories, a_write_takes_effect_twice) {
    all_.add(created(1, 1, 2));
    all_.add(write_seen{1, "a", 3, 4});
    all_.add(write_seen{1, "b", 5, 6});
    all_.add(read_seen{1, "a", 7, 8});
    find(1, "b");
    expect_illegal("no order explains");
}

TEST_F(histories, reads_go_back_in_time) {
    all_.add(created(1, 1, 2));
    all_.add(write_seen{1, "a", 3, 30});
    all_.add(read_seen{1, "a", 4, 5});
    all_.add(read_seen{1, "new", 6, 7});
    find(1, "a");
    expect_illegal("no order explains");
}

TEST_F(histories, a_description_that_was_never_written) {
    all_.add(created(1, 1, 2));
    all_.add(read_seen{1, "new", 3, 4});
    all_.add(read_seen{1, "other", 5, 6});
    find(1, "new");
    expect_illegal("that no client wrote");
}

TEST_F(histories, a_write_is_seen_before_it_was_sent) {
    all_.add(created(1, 1, 2));
    all_.add(read_seen{1, "a", 3, 4});
    all_.add(write_seen{1, "a", 5, 6});
    find(1, "a");
    expect_illegal("no order explains");
}

}  // namespace
}  // namespace callsign::testing
