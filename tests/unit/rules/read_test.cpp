// Queries: what each finds, and what bounds it.

#include <callsign/rules/read.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/memory.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace callsign {
namespace {

uuid uuid_of(int n) {
    return make_uuid_v7({}, 1, static_cast<std::uint64_t>(n));
}

struct queries : ::testing::Test {
    struct counted_ids final : rules::id_source {
        uuid next(time_point) override { return uuid_of(++drawn); }
        int drawn = 1'000'000;
    };

    template <class Command>
    typename Command::answer run(const Command& c) {
        const auto tx = store->begin_write();
        now += milliseconds{1};
        const rules::moment m{.now = now, .ids = ids, .events = &happened};
        auto answer = rules::apply(*tx, c, m);
        tx->commit();
        return answer;
    }
    template <class Query>
    typename Query::answer ask(const Query& q) {
        return rules::read(*store->begin_read(), q);
    }
    account_id make(const std::string& name, std::optional<uuid> client = {}) {
        return std::get<account>(run(create_account{name, "SYN", "t", sha256(name), client})).id;
    }
    void import(account_id to, int from, int count) {
        import_tasks c{to, {}};
        for (int n = from; n < from + count; ++n) c.tasks.push_back({uuid_of(n), {{"p", "v"}}});
        ASSERT_TRUE(std::holds_alternative<import_tasks::done>(run(c)));
    }
    template <class Event>
    bool has_happened() const {
        return std::any_of(happened.begin(), happened.end(),
                           [](const event& e) { return std::holds_alternative<Event>(e); });
    }

    std::unique_ptr<strict_memory_store> store = make_memory_store();
    counted_ids ids;
    time_point now{std::chrono::hours{24 * 365 * 50}};
    std::vector<event> happened;
};

TEST_F(queries, listings_come_in_pages) {
    for (const char* name : {"a", "b", "c"}) make(name);
    const auto first = ask(list_accounts{{.size = 2}});
    ASSERT_EQ(first.rows.size(), 2u);
    EXPECT_TRUE(first.has_more);
    const auto last = ask(list_accounts{{.size = 2, .after = first.rows.back().id.value}});
    ASSERT_EQ(last.rows.size(), 1u);
    EXPECT_EQ(last.rows[0].name, "c");
    EXPECT_FALSE(last.has_more);
    EXPECT_FALSE(ask(list_accounts{{.size = 3}}).has_more);
    EXPECT_FALSE(ask(list_series{std::string("nobody"), {}}));
    EXPECT_EQ(ask(list_series{std::string("a"), {}})->rows.size(), 1u);
}

TEST_F(queries, a_task_is_found_by_either_name_or_it_is_said_why_not) {
    const auto id = make("a");
    import(id, 1, 2);
    edit_task purge{id, uuid_of(2)};
    purge.purge = true;
    run(purge);
    const auto fault = [&](const char* ref) {
        return std::get<ref_fault>(ask(find_task{id, *parse_task_ref(ref)}));
    };
    EXPECT_EQ(std::get<task>(ask(find_task{id, *parse_task_ref("syn-1")})).uuid, uuid_of(1));
    EXPECT_EQ(fault("SYN-2"), ref_fault::task_deleted);
    EXPECT_EQ(fault("SYN-3"), ref_fault::task_not_found);
    EXPECT_EQ(fault("X-1"), ref_fault::unknown_prefix);
    const auto other = make("b");
    EXPECT_EQ(std::get<ref_fault>(ask(find_task{other, uuid_of(1)})), ref_fault::task_not_found);
}

// A page of rows ends anywhere, and the next begins just there: in each series.
TEST_F(queries, all_tasks_are_read_whatever_a_page_takes) {
    const auto id = make("a");
    import(id, 1, 40);
    run(create_series{id, "HOME", "house"});
    import_tasks c{id, {}};
    for (int n = 100; n < 137; ++n) c.tasks.push_back({uuid_of(n), {{"project", "house"}}});
    run(c);
    for (const std::size_t work : {1u, 5'000u, 17'500u, 10'000'000u}) {
        std::set<uuid> seen;
        read_tasks q{id, {}, work};
        std::size_t rows = 0;
        for (bool more = true; more;) {
            auto page = ask(q);
            for (const task& t : page.tasks) seen.insert(t.uuid);
            rows += page.tasks.size();
            q.after = page.next;
            more = page.next.has_value();
        }
        EXPECT_EQ(seen.size(), 77u) << work;
        EXPECT_EQ(rows, 77u) << "none twice, by " << work;
    }
}

TEST_F(queries, sealed_content_is_loaded_where_there_is_room_for_it) {
    const auto id = make("vault", uuid_of(900));
    const std::string segment(1'000, 's');
    const auto added = std::get<add_sealed_version::added>(
        run(add_sealed_version{uuid_of(900), uuid{}, segment, false, id}));
    EXPECT_TRUE(has_happened<events::version_appended>());
    const auto child = [&](std::size_t bytes_max, bool room) {
        return ask(find_sealed_child{id, uuid{}, bytes_max, [=](std::size_t bytes) {
                                         EXPECT_EQ(bytes, 1'000u);
                                         return room;
                                     }});
    };
    EXPECT_EQ(std::get<find_sealed_child::too_large>(child(999, true)).bytes, 1'000u);
    EXPECT_TRUE(std::holds_alternative<no_room>(child(1'000, false)));
    EXPECT_EQ(std::get<sealed_version>(child(1'000, true)).segment, segment);
    EXPECT_TRUE(std::holds_alternative<up_to_date>(ask(find_sealed_child{id, added.version})));
    EXPECT_TRUE(std::holds_alternative<unknown_version>(ask(find_sealed_child{id, uuid_of(7)})));
    EXPECT_TRUE(std::holds_alternative<find_sealed_snapshot::none>(ask(find_sealed_snapshot{id})));
}

TEST_F(queries, a_sealed_history_is_read_page_by_page) {
    const auto id = make("vault", uuid_of(900));
    uuid parent{};
    constexpr int count = 700;
    for (int n = 0; n < count; ++n) {
        parent =
            std::get<add_sealed_version::added>(
                run(add_sealed_version{uuid_of(900), parent, "s" + std::to_string(n), false, id}))
                .version;
    }
    std::vector<std::string> read;
    read_sealed_versions q{id, {}};
    for (;;) {
        const auto page = ask(q);
        if (page.versions.empty()) break;
        EXPECT_LE(std::ssize(page.versions), read_sealed_versions::versions_max);
        EXPECT_FALSE(page.before) << "it begins at its beginning";
        for (const auto& v : page.versions) read.push_back(v.segment);
        q.after = {page.versions.back().seq, page.versions.back().id};
    }
    ASSERT_EQ(read.size(), std::size_t{count});
    EXPECT_EQ(read.front(), "s0");
    EXPECT_EQ(read.back(), "s699");
}

// ---- a creation is refused for the world as it is, and a retry is not ----

struct creations : queries {
    reserve wanted(std::string key) const {
        return {owner, std::move(key), {}, {}, "", {{"description", "x"}}, {}};
    }
    account_id owner = make("a");
};

TEST_F(creations, what_cannot_be_depended_on_is_named_and_no_slot_is_made) {
    import(owner, 1, 1);
    reserve c = wanted("k");
    c.depends = {uuid_of(1), *parse_task_ref("SYN-9"), *parse_task_ref("X-1")};
    const auto unmet = std::get<depends_unmet>(run(c)).refs;
    ASSERT_EQ(unmet.size(), 2u);
    EXPECT_EQ(unmet[0].second, ref_fault::task_not_found);
    EXPECT_EQ(unmet[1].second, ref_fault::unknown_prefix);
    EXPECT_EQ(store->counts().pending, 0);
    c.depends = {*parse_task_ref("SYN-1")};
    EXPECT_EQ(std::get<reserve::reserved>(run(c)).depends, std::vector<uuid>{uuid_of(1)});
}

TEST_F(creations, a_settled_key_keeps_its_answer_and_a_pending_one_does_not) {
    import(owner, 1, 1);
    reserve c = wanted("k");
    c.depends = {uuid_of(1)};
    c.attributes["until"] = std::to_string(now.time_since_epoch().count() / 1000 + 1);
    const auto first = std::get<reserve::reserved>(run(c));
    now += std::chrono::hours{1};  // `until` has come
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

TEST_F(creations, an_edit_cannot_make_a_task_depend_on_itself) {
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

// ---- what is told of it ----

TEST_F(queries, what_caches_hold_is_told_when_it_changes) {
    const auto id = make("a");
    EXPECT_TRUE(has_happened<events::account_created>());
    const auto made = std::get<device>(run(create_device{id, "laptop", uuid_of(901), "sealed"}));
    EXPECT_TRUE(has_happened<events::device_created>());
    run(revoke_device{id, made.id});
    EXPECT_TRUE(has_happened<events::device_revoked>());
    const auto given = std::get<token>(run(create_token{id, "t2", token_scope::read, sha256("2")}));
    EXPECT_TRUE(has_happened<events::token_created>());
    run(revoke_token{given.id, id});
    EXPECT_TRUE(has_happened<events::token_revoked>());
    run(create_series{id, "HOME", ""});
    EXPECT_TRUE(has_happened<events::series_created>());
    happened.clear();
    run(revoke_token{given.id, id});
    run(revoke_device{id, made.id});
    EXPECT_TRUE(happened.empty()) << "a second time changes nothing";
    run(register_client{uuid_of(902)});
    ASSERT_EQ(happened.size(), 1u);
    EXPECT_EQ(std::get<events::account_created>(happened[0]).client_id, uuid_of(902));
    happened.clear();
    run(register_client{uuid_of(902)});
    EXPECT_TRUE(happened.empty());
}

}  // namespace
}  // namespace callsign
