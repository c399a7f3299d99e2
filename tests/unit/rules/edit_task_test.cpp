// Edits over REST.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using edits = managed_account;

struct edits_of_dependencies : rules_test {
    account_id owner = make("a");
};

TEST_F(edits, an_edit_is_a_version_with_its_changes) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "v"), update(uuid_of(1), "q", "w")});
    const auto before = find(uuid_of(1))->last_seq;
    edit_task c;
    c.account = account_;
    c.task = uuid_of(1);
    c.changes = {{"p", "new"}, {"q", std::nullopt}, {"r", std::nullopt}};
    const task_tag now = std::get<task>(ask(find_task{account_, uuid_of(1)})).tag;
    EXPECT_EQ(now.seq, before);
    c.if_match = {{{before, now.stamp + 1}, {before + 7, now.stamp}}};
    EXPECT_TRUE(std::holds_alternative<edit_task::precondition_failed>(run(c)));
    c.if_match->push_back(now);
    const auto edited = std::get<edit_task::edited>(run(c)).now;
    EXPECT_EQ(edited.last_seq, before + 1);
    EXPECT_EQ(edited.attributes.at("p"), "new");
    EXPECT_FALSE(edited.attributes.contains("q"));
    EXPECT_EQ(chain().back().operations.size(), 3u);  // p, q, modified

    EXPECT_TRUE(std::holds_alternative<edit_task::precondition_failed>(run(c)));
    c.if_match.reset();
    EXPECT_EQ(std::get<edit_task::edited>(run(c)).now.last_seq, before + 1);  // no change
    c.purge = true;
    EXPECT_TRUE(std::get<edit_task::edited>(run(c)).now.purged);
    EXPECT_EQ(std::get<ref_fault>(run(c)), ref_fault::task_deleted);
    c.task = uuid_of(2);
    EXPECT_EQ(std::get<ref_fault>(run(c)), ref_fault::task_not_found);
}

TEST_F(edits, a_complete_list_replaces_the_current_one) {
    send({create(uuid_of(1)), update(uuid_of(1), "tag_a", ""), update(uuid_of(1), "tag_b", "x")});
    edit_task c{account_, uuid_of(1), {{"tag_b", ""}, {"tag_c", ""}}, {"tag_", "dep_"}};
    send({update(uuid_of(1), "tag_late", ""), update(uuid_of(1), "tags", "kept")});
    const auto edited = std::get<edit_task::edited>(run(c)).now;
    for (const char* name : {"tag_a", "tag_late"}) EXPECT_FALSE(edited.attributes.contains(name));
    for (const char* name : {"tag_b", "tag_c"}) EXPECT_EQ(edited.attributes.at(name), "");
    EXPECT_EQ(edited.attributes.at("tags"), "kept");
    EXPECT_EQ(edited.attributes.at("key"), "SYN-1");
    // The same list again changes nothing.
    EXPECT_EQ(std::get<edit_task::edited>(run(c)).now.last_seq, edited.last_seq);
}

TEST_F(edits, end_follows_the_status) {
    send({create(uuid_of(1)), update(uuid_of(1), "status", "pending")});
    const auto set = [&](std::string status, std::optional<std::string> end = {}) {
        edit_task c{account_, uuid_of(1), {{"status", std::move(status)}}};
        // A recurring task requires both.
        c.changes.emplace_back("due", "1800000000");
        c.changes.emplace_back("recur", "weekly");
        if (end) c.changes.emplace_back("end", std::move(end));
        run(c);
        return attribute(uuid_of(1), "end");
    };
    const auto seconds = [&] { return std::to_string(now_.time_since_epoch().count() / 1000); };
    const std::string ended = set("completed");
    EXPECT_EQ(ended, seconds());
    now_ += std::chrono::hours{1};
    EXPECT_EQ(set("completed"), ended);
    EXPECT_EQ(set("deleted"), ended);
    EXPECT_EQ(set("pending"), "(none)");
    EXPECT_EQ(set("deleted"), seconds());
    EXPECT_EQ(set("recurring"), "(none)");
    EXPECT_EQ(set("completed", "1700000001"), "1700000001");
    // A change of another attribute keeps it.
    run(edit_task{account_, uuid_of(1), {{"p", "v"}}});
    EXPECT_EQ(attribute(uuid_of(1), "end"), "1700000001");
}

// A device may have exceeded the limit: an edit that adds none is accepted.
TEST_F(edits, an_edit_cannot_exceed_the_maximum_of_attributes) {
    operations all{create(uuid_of(1)), update(uuid_of(1), "modified", "1700000000")};
    for (std::size_t n = 0; n < task_attributes_max + 10; ++n) {
        all.push_back(update(uuid_of(1), "a" + std::to_string(n), ""));
    }
    send(std::move(all));
    EXPECT_EQ(std::get<task_too_large>(run(edit_task{account_, uuid_of(1), {{"b", "v"}}})).task,
              uuid_of(1));
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(
        run(edit_task{account_, uuid_of(1), {{"a1", "v"}}})));
    edit_task fewer{account_, uuid_of(1)};
    for (int n = 0; n < 100; ++n) fewer.changes.emplace_back("a" + std::to_string(n), std::nullopt);
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(run(fewer)));
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(
        run(edit_task{account_, uuid_of(1), {{"b", "v"}}})));
}

TEST_F(edits, a_rejected_edit_writes_nothing) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "v")});
    const auto seq = head().seq;
    edit_task c{account_, uuid_of(1), {{"a", std::string(task_bytes_max, 'x')}}};
    EXPECT_EQ(std::get<task_too_large>(run(c)).task, uuid_of(1));
    c.changes = {{"p", "w"}};
    c.if_match = std::vector<task_tag>{};  // matches no version
    EXPECT_TRUE(std::holds_alternative<edit_task::precondition_failed>(run(c)));
    EXPECT_EQ(head().seq, seq);
    EXPECT_EQ(attribute(uuid_of(1), "p"), "v");
}

// A device may have written the invalid state: only the edit's own changes are validated.
TEST_F(edits, an_edit_is_validated_for_its_own_changes_only) {
    send({create(uuid_of(1)), update(uuid_of(1), "status", "recurring"),
          update(uuid_of(1), "until", "1600000000")});
    using changes = std::vector<std::pair<std::string, std::optional<std::string>>>;
    const auto edited = [&](changes wanted, bool purge = false) {
        edit_task c{account_, uuid_of(1), std::move(wanted)};
        c.purge = purge;
        return run(c);
    };
    const auto said = edited({{"description", "said"}});
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(said));
    const auto again = edited({{"until", "1600000001"}});
    ASSERT_TRUE(std::holds_alternative<task_not_valid>(again));
    EXPECT_EQ(std::get<task_not_valid>(again).faults.front().attribute, "until");
    EXPECT_TRUE(std::holds_alternative<task_not_valid>(edited({{"recur", "often"}})));
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(
        edited({{"recur", "weekly"}, {"due", "1800000000"}, {"until", "1900000000"}})));
    EXPECT_TRUE(std::holds_alternative<task_not_valid>(edited({{"due", std::nullopt}})));
    const auto last = chain().back();
    EXPECT_EQ(attribute(uuid_of(1), "due"), "1800000000");
    EXPECT_EQ(last.operations.front().property, "due");
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(edited({}, true)));
}

TEST_F(edits_of_dependencies, an_edit_cannot_make_a_task_depend_on_itself) {
    import(owner, 1, 2);
    edit_task c{owner, *parse_task_ref("SYN-1")};
    c.depends = {*parse_task_ref("SYN-2"), uuid_of(1)};
    const auto unmet = std::get<depends_unmet>(run(c)).refs;
    ASSERT_EQ(unmet.size(), 1u);
    EXPECT_EQ(unmet[0].second, ref_fault::is_itself);
    c.depends = {*parse_task_ref("SYN-2")};
    const auto edited = std::get<edit_task::edited>(run(c)).now;
    EXPECT_TRUE(edited.attributes.contains("dep_" + to_string(uuid_of(2))));
}

}  // namespace
}  // namespace callsign
