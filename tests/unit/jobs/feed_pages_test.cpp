// Followers and webhooks at the same place of the feed read and encode once.

#include "support/test_server.hpp"

#include <callsign/jobs/feed_pages.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using jobs::feed_page;
using jobs::page_form;

class feed_pages_test : public ::testing::Test {
  protected:
    using page_ptr = std::shared_ptr<feed_page>;

    feed_pages_test() {
        const auto made = h.make_account("home", "SYN");
        account = made.id;
        token = made.token;
        create("one");
    }
    void create(const std::string& text) {
        h.call(post("/v1/tasks", R"({"description":")" + text + "\"}", token, "key-" + text));
    }
    read_changes from(std::int64_t seq) const {
        return {.account = account, .after = {seq}, .now = h.clock().now()};
    }
    std::shared_ptr<std::optional<page_ptr>> begin(read_changes question) {
        return spawn_for_result(h.network(), pages.read(std::move(question), {}));
    }
    page_ptr read(read_changes question) { return h.run(pages.read(std::move(question), {})); }
    // Returns the text, and counts the calls of make().
    std::string encoded(const page_ptr& page) {
        auto make = [this] { return std::vector{"text " + std::to_string(++encodings)}; };
        const auto error = h.run(pages.encode(*page, page_form::json, make));
        EXPECT_FALSE(error);
        return page->messages(page_form::json).front();
    }

    mutable test_server h;
    jobs::feed_pages pages{h.engine(), h.clock()};
    account_id account;
    std::string token;
    int encodings = 0;
};

TEST_F(feed_pages_test, simultaneous_reads_are_one) {
    const auto one = begin(from(0));
    const auto two = begin(from(0));
    const auto other = begin(from(1));
    h.settle();
    ASSERT_TRUE(*one && *two && *other);
    EXPECT_EQ(**one, **two);
    EXPECT_NE(**one, **other);
    EXPECT_FALSE((**one)->part().changes.empty());
}

TEST_F(feed_pages_test, a_page_is_found_while_another_holds_it) {
    auto page = read(from(0));
    EXPECT_EQ(read(from(0)), page);
    const std::weak_ptr<feed_page> gone = page;
    page.reset();
    EXPECT_TRUE(gone.expired());
    EXPECT_FALSE(read(from(0))->part().changes.empty());
}

TEST_F(feed_pages_test, other_queries_have_their_own_pages) {
    const auto page = read(from(0));
    read_changes other = from(0);
    other.limit = 1;
    EXPECT_NE(read(other), page);
    other = from(0);
    other.filter = task_filter{.project = "Home"};
    const auto filtered = read(other);
    EXPECT_NE(filtered, page);
    EXPECT_TRUE(filtered->part().changes.empty());
    EXPECT_EQ(read(other), filtered);
    other.filter->project = "Work";
    EXPECT_NE(read(other), filtered);
    other = from(0);
    other.mark = "0123456789ab";
    EXPECT_NE(read(other), page);
    other = from(0);
    other.work_max = 1;
    EXPECT_NE(read(other), page);
}

TEST_F(feed_pages_test, after_a_version_older_pages_are_not_found) {
    const auto page = read(from(0));
    pages.follow(events::version_appended{account_id{account.value + 1}, 9});
    EXPECT_EQ(read(from(0)), page);
    create("two");
    pages.follow(events::version_appended{account, 9});
    const auto next = read(from(0));
    EXPECT_NE(next, page);
    EXPECT_GT(next->part().changes.size(), page->part().changes.size());
}

TEST_F(feed_pages_test, a_read_in_progress_is_joined_after_a_version) {
    const auto one = begin(from(0));
    ASSERT_TRUE(h.step());
    ASSERT_FALSE(*one);
    pages.follow(events::version_appended{account, 9});
    const auto two = begin(from(0));
    h.settle();
    EXPECT_EQ(**one, **two);
    // It may lack that version. A follower that found it again would read it for ever.
    EXPECT_NE(read(from(0)), **one);
}

TEST_F(feed_pages_test, a_form_is_encoded_once) {
    const auto page = read(from(0));
    EXPECT_EQ(encoded(page), "text 1");
    EXPECT_EQ(encoded(page), "text 1");
    EXPECT_EQ(encodings, 1);
}

TEST_F(feed_pages_test, an_encoding_that_failed_is_tried_by_the_next) {
    const auto page = read(from(0));
    auto fail = []() -> std::vector<std::string> { throw std::runtime_error("no"); };
    EXPECT_THROW(h.run(pages.encode(*page, page_form::json, fail)), std::runtime_error);
    EXPECT_EQ(encoded(page), "text 1");
}

}  // namespace
}  // namespace callsign::testing
