// Complete, reopen, start, stop, annotate, denotate: the effect of each on the current task.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using verb = task_action::kind;

struct actions : managed_account {
    actions() { send({create(uuid_of(1)), update(uuid_of(1), "status", "pending")}); }

    edit_task::answer act(task_action action) {
        edit_task c{account_, uuid_of(1)};
        c.action = std::move(action);
        return run(c);
    }
    // Returns false if nothing was changed and no version was added.
    bool changes(task_action action) {
        const auto before = head().seq;
        EXPECT_TRUE(std::holds_alternative<edit_task::edited>(act(std::move(action))));
        return head().seq != before;
    }
    std::string seconds() const {
        return std::to_string(
            std::chrono::floor<std::chrono::seconds>(now_).time_since_epoch().count());
    }
    std::map<std::string, std::string> annotations() {
        std::map<std::string, std::string> all;
        const task now = *find(uuid_of(1));
        for (const auto& [name, value] : now.attributes) {
            if (name.starts_with("annotation_")) all.emplace(name, value);
        }
        return all;
    }
};

TEST_F(actions, a_task_is_completed_and_reopened) {
    EXPECT_TRUE(changes({verb::start}));
    EXPECT_TRUE(changes({verb::complete}));
    EXPECT_EQ(attribute(uuid_of(1), "status"), "completed");
    EXPECT_EQ(attribute(uuid_of(1), "start"), "(none)");
    const std::string ended = attribute(uuid_of(1), "end");
    EXPECT_EQ(ended, seconds());
    now_ += std::chrono::hours{1};
    EXPECT_FALSE(changes({verb::complete}));
    EXPECT_EQ(attribute(uuid_of(1), "end"), ended);
    EXPECT_TRUE(changes({verb::reopen}));
    EXPECT_EQ(attribute(uuid_of(1), "status"), "pending");
    EXPECT_EQ(attribute(uuid_of(1), "end"), "(none)");
    EXPECT_FALSE(changes({verb::reopen}));
}

TEST_F(actions, a_pending_task_is_not_reopened) {
    send({update(uuid_of(1), "status", "recurring"), update(uuid_of(1), "recur", "weekly"),
          update(uuid_of(1), "due", "1800000000")});
    EXPECT_FALSE(changes({verb::reopen}));
    EXPECT_EQ(attribute(uuid_of(1), "status"), "recurring");
}

TEST_F(actions, a_task_is_started_once_and_stopped) {
    EXPECT_FALSE(changes({verb::stop}));
    EXPECT_TRUE(changes({verb::start}));
    const std::string started = attribute(uuid_of(1), "start");
    EXPECT_EQ(started, seconds());
    now_ += std::chrono::hours{1};
    EXPECT_FALSE(changes({verb::start}));
    EXPECT_EQ(attribute(uuid_of(1), "start"), started);
    EXPECT_TRUE(changes({verb::stop}));
    EXPECT_EQ(attribute(uuid_of(1), "start"), "(none)");
    // Work on a completed task can begin again.
    EXPECT_TRUE(changes({verb::complete}));
    EXPECT_TRUE(changes({verb::start}));
    EXPECT_EQ(attribute(uuid_of(1), "status"), "pending");
    EXPECT_EQ(attribute(uuid_of(1), "end"), "(none)");
    EXPECT_EQ(attribute(uuid_of(1), "start"), seconds());
}

TEST_F(actions, annotations_of_one_second_are_kept_side_by_side) {
    constexpr std::int64_t at = 1'750'000'000;
    EXPECT_TRUE(changes({verb::annotate, "one", at}));
    EXPECT_TRUE(changes({verb::annotate, "two", at}));
    EXPECT_FALSE(changes({verb::annotate, "one", at})) << "a retry";
    EXPECT_FALSE(changes({verb::annotate, "two", at})) << "a retry of the one that was moved";
    const std::map<std::string, std::string> both{{"annotation_1750000000", "one"},
                                                  {"annotation_1750000001", "two"}};
    EXPECT_EQ(annotations(), both);
    EXPECT_TRUE(changes({verb::annotate, "now"}));
    EXPECT_EQ(attribute(uuid_of(1), "annotation_" + seconds()), "now");
}

TEST_F(actions, annotations_are_removed_by_text_by_entry_or_by_both) {
    for (const std::int64_t at : {1'750'000'000, 1'750'000'100}) {
        EXPECT_TRUE(changes({verb::annotate, "same", at}));
        EXPECT_TRUE(changes({verb::annotate, "other", at + 10}));
    }
    EXPECT_FALSE(changes({verb::denotate, "sam"}));
    EXPECT_FALSE(changes({verb::denotate, "other", 1'750'000'000}));
    EXPECT_TRUE(changes({verb::denotate, "same", 1'750'000'000}));
    EXPECT_EQ(annotations().size(), 3u);
    EXPECT_TRUE(changes({verb::denotate, "", 1'750'000'010}));
    EXPECT_EQ(annotations().size(), 2u);
    EXPECT_TRUE(changes({verb::annotate, "same", 1'750'000'200}));
    EXPECT_TRUE(changes({verb::denotate, "same"}));
    EXPECT_EQ(annotations(),
              (std::map<std::string, std::string>{{"annotation_1750000110", "other"}}));
    EXPECT_EQ(attribute(uuid_of(1), "status"), "pending");
}

TEST_F(actions, are_rejected_like_edits) {
    edit_task c{account_, uuid_of(1)};
    c.action = task_action{verb::complete};
    c.if_match = {{head().seq + 1, 0}};
    EXPECT_TRUE(std::holds_alternative<edit_task::precondition_failed>(run(c)));
    c.if_match.reset();
    c.task = uuid_of(2);
    EXPECT_EQ(std::get<ref_fault>(run(c)), ref_fault::task_not_found);
    EXPECT_EQ(attribute(uuid_of(1), "status"), "pending");
    c.task = uuid_of(1);
    c.action = task_action{verb::annotate, std::string(task_bytes_max, 'x')};
    EXPECT_TRUE(std::holds_alternative<task_too_large>(run(c)));
}

}  // namespace
}  // namespace callsign
