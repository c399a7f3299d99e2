// Series: resets, prefixes and starting numbers.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>

namespace callsign {
namespace {

using namespace std::chrono_literals;

class series_rules : public managed_account {
  protected:
    series make_series(create_series c) {
        c.account = account_;
        const auto made = run(c);
        EXPECT_TRUE(std::holds_alternative<series>(made));
        return std::get<series>(made);
    }
    series daily(std::string prefix, std::string zone) {
        create_series c;
        c.prefix = std::move(prefix);
        c.reset = reset_policy::daily;
        c.time_zone = std::move(zone);
        return make_series(c);
    }
    edit_series of(const std::string& named) {
        edit_series c;
        c.account = account_;
        c.named = named;
        return c;
    }
    template <class Answer>
    bool is_rejected(const edit_series& c) {
        return std::holds_alternative<Answer>(run(c));
    }
    receipt created(const std::string& prefix, attributes all = {}) {
        const auto key = "k" + std::to_string(++keys_);
        const auto answer = run(reserve{account_, key, {}, {}, prefix});
        const auto slot = std::get<reserve::reserved>(answer).slot;
        return std::get<receipted>(run(fulfil{slot, prefix, std::move(all)})).receipt;
    }
    std::string key(const std::string& prefix, attributes all = {}) {
        return key_of(created(prefix, std::move(all)));
    }
    void set_time(const char* at) { now_ = parse_rfc3339(at).value(); }
    std::string name_of(const char* ref) {
        const auto found = ask(find_task{account_, *parse_task_ref(ref)});
        const auto* const t = std::get_if<task>(&found);
        return t ? format_key(t->current_prefix, t->numbered->period, t->numbered->number)
                 : "(none)";
    }
    series shown(const std::string& prefix) {
        const auto all = ask(list_series{account_, {}, now_});
        for (const series& s : all->rows) {
            if (s.prefix == prefix) return s;
        }
        return {};
    }

    int keys_ = 0;
};

TEST_F(series_rules, restart_with_each_period_of_their_zone) {
    daily("INC", "Europe/Berlin");
    set_time("2026-11-20T22:59:58Z");
    EXPECT_EQ(key("INC"), "INC-20261120-1");
    EXPECT_EQ(key("INC"), "INC-20261120-2");
    EXPECT_EQ(shown("INC").last_number, 2);
    EXPECT_EQ(shown("INC").period, "20261120");
    set_time("2026-11-20T23:00:00Z");
    EXPECT_EQ(shown("INC").last_number, 0) << "a new day has begun";
    EXPECT_EQ(shown("INC").period, "20261121");
    EXPECT_EQ(key("INC"), "INC-20261121-1");
    EXPECT_EQ(name_of("inc-20261120-2"), "INC-20261120-2");
    EXPECT_EQ(name_of("INC-2"), "(none)") << "the period is a part of the key";
}

TEST_F(series_rules, of_two_places_are_in_two_periods_at_the_same_moment) {
    daily("EAST", "Pacific/Kiritimati");
    daily("WEST", "Pacific/Pago_Pago");
    set_time("2026-11-20T10:30:00Z");
    EXPECT_EQ(key("EAST"), "EAST-20261121-1");
    EXPECT_EQ(key("WEST"), "WEST-20261119-1");
}

// Reserved before midnight and fulfilled after it: key, period and createdAt are of the latter.
TEST_F(series_rules, number_by_the_moment_of_the_fulfilment) {
    daily("INC", "UTC");
    set_time("2026-11-20T23:59:59Z");
    const auto slot = std::get<reserve::reserved>(run(reserve{account_, "k", {}, {}, "INC"})).slot;
    set_time("2026-11-21T00:00:00Z");
    const auto given = std::get<receipted>(run(fulfil{slot, "INC", {}})).receipt;
    EXPECT_EQ(key_of(given), "INC-20261121-1");
    EXPECT_EQ(period_of(given.created_at, reset_policy::daily, "UTC"), given.period);
    EXPECT_EQ(std::get<receipted>(run(reserve{account_, "k", {}, {}, "INC"})).receipt, given);
}

TEST_F(series_rules, never_return_to_a_former_period) {
    daily("INC", "Pacific/Kiritimati");
    set_time("2026-11-20T10:30:00Z");
    EXPECT_EQ(key("INC"), "INC-20261121-1");
    set_time("2026-11-19T00:00:00Z");  // the clock was wrong
    EXPECT_EQ(key("INC"), "INC-20261121-2");
    edit_series zone = of("INC");
    zone.time_zone = "Pacific/Pago_Pago";
    set_time("2026-11-20T10:40:00Z");
    EXPECT_EQ(std::get<series>(run(zone)).period, "20261121");
    EXPECT_EQ(key("INC"), "INC-20261121-3");
    set_time("2026-11-22T11:00:00Z");
    EXPECT_EQ(key("INC"), "INC-20261122-1");
}

TEST_F(series_rules, reset_monthly_and_yearly_too) {
    for (const auto policy : {reset_policy::monthly, reset_policy::yearly}) {
        create_series c;
        c.prefix = policy == reset_policy::monthly ? "M" : "Y";
        c.reset = policy;
        make_series(c);
    }
    set_time("2026-11-30T23:59:59Z");
    EXPECT_EQ(key("M"), "M-202611-1");
    EXPECT_EQ(key("Y"), "Y-2026-1");
    set_time("2026-12-01T00:00:00Z");
    EXPECT_EQ(key("M"), "M-202612-1");
    EXPECT_EQ(key("Y"), "Y-2026-2");
    EXPECT_EQ(key("SYN"), "SYN-1") << "the default series has no periods";
}

// The wall clock may be behind the store's time; the key agrees with createdAt, which never is.
TEST_F(series_rules, number_by_the_stores_time) {
    daily("INC", "UTC");
    set_time("2026-11-21T00:00:01Z");
    const auto slot = std::get<reserve::reserved>(run(reserve{account_, "k", {}, {}, "INC"})).slot;
    const auto tx = store_->begin_write();
    const rules::moment m{.now = now_, .ids = ids_, .wall = now_ - 1h, .events = &told_};
    const auto given = std::get<receipted>(rules::apply(*tx, fulfil{slot, "INC", {}}, m)).receipt;
    tx->commit();
    EXPECT_EQ(key_of(given), "INC-20261121-1");
    EXPECT_EQ(period_of(given.created_at, reset_policy::daily, "UTC"), given.period);
}

// Synced and imported tasks are numbered like others.
TEST_F(series_rules, number_synced_tasks_in_their_period) {
    create_series c;
    c.prefix = "INC";
    c.project = "ops";
    c.reset = reset_policy::daily;
    make_series(c);
    set_time("2026-11-20T12:00:00Z");
    send({create(uuid_of(1)), update(uuid_of(1), "project", "ops")});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "INC-20261120-1");
}

// ---- prefixes ----

TEST_F(series_rules, keep_former_prefixes_as_aliases) {
    make_series({{}, "OLD", "house"});
    EXPECT_EQ(key("OLD"), "OLD-1");
    edit_series c = of("old");
    c.named = "OLD";
    c.prefix = "NEW";
    EXPECT_EQ(std::get<series>(run(c)).prefix, "NEW");
    EXPECT_EQ(key("OLD"), "NEW-2") << "with its former prefix";
    EXPECT_EQ(key("NEW"), "NEW-3");
    EXPECT_EQ(key("", {{"project", "house"}}), "NEW-4");
    EXPECT_EQ(name_of("OLD-1"), "NEW-1");
    EXPECT_EQ(name_of("NEW-1"), "NEW-1");
    EXPECT_EQ(name_of("OLD-4"), "NEW-4");
    // It may take its former prefix back, and no other series may use either.
    EXPECT_TRUE(std::holds_alternative<prefix_taken>(run(create_series{account_, "OLD"})));
    edit_series other = of("SYN");
    other.prefix = "OLD";
    EXPECT_TRUE(is_rejected<prefix_taken>(other));
    c.named = "NEW";
    c.prefix = "OLD";
    EXPECT_EQ(std::get<series>(run(c)).prefix, "OLD");
    EXPECT_EQ(name_of("NEW-2"), "OLD-2");
    EXPECT_TRUE(is_rejected<no_such_series>(of("NONE")));
}

// Readers see another key, so that each task changes.
TEST_F(series_rules, a_renaming_changes_the_keys_of_all_tasks) {
    make_series({{}, "OLD", "house"});
    std::vector<uuid> all;
    for (int n = 0; n < 4; ++n) all.push_back(created("OLD").uuid);
    const uuid other = created("SYN").uuid;
    run(edit_task{.account = account_, .task = all[2], .changes = {{"status", "completed"}}});
    run(edit_task{.account = account_, .task = all[3], .purge = true});
    const auto before = head().seq;
    const auto tag_of = [&](const uuid& id) {
        return std::get<task>(ask(find_task{account_, id})).tag;
    };
    const task_tag old = tag_of(all[0]);
    edit_series c = of("OLD");
    c.prefix = "NEW";
    run(c);
    EXPECT_EQ(head().seq, before + 1) << "one version";
    EXPECT_EQ(chain().back().operations.size(), 3u) << "without the purged task";
    for (int n = 0; n < 3; ++n) {
        EXPECT_EQ(attribute(all[n], "key"), "NEW-" + std::to_string(n + 1));
        EXPECT_EQ(find(all[n])->last_seq, before + 1);
    }
    EXPECT_EQ(attribute(other, "key"), "SYN-1");
    EXPECT_NE(tag_of(all[0]).stamp, old.stamp);
    EXPECT_EQ(ask(find_renamed{}).series, std::nullopt);
    run(c);
    EXPECT_EQ(head().seq, before + 1) << "it has that prefix";
}

// Without a key attribute the tasks change all the same, as REST shows them.
TEST_F(series_rules, a_renaming_changes_tasks_without_a_key_attribute) {
    key_attribute_.clear();
    const uuid id = created("SYN").uuid;
    const auto before = find(id)->last_seq;
    edit_series c = of("SYN");
    c.prefix = "NEW";
    run(c);
    EXPECT_EQ(find(id)->last_seq, before + 1);
    EXPECT_EQ(chain().back().operations.front().property, "modified");
    // A task that changes between two steps is not changed again.
    std::vector<uuid> all;
    for (int n = 0; n < 3; ++n) {
        all.push_back(created("NEW", {{"description", std::string(step_work_max, 'x')}}).uuid);
    }
    c.named = "NEW";
    c.prefix = "END";
    run(c);
    run(edit_task{.account = account_, .task = all[2], .changes = {{"project", "p"}}});
    const auto edited = find(all[2])->last_seq;
    const series_id series = all_series::default_of(*store_->begin_read(), account_)->id;
    while (run(update_keys{series}).has_more) {
    }
    EXPECT_EQ(find(all[2])->last_seq, edited);
    EXPECT_EQ(find(all[1])->last_seq, edited + 1);
}

// Each task is as large as a step. Tasks that change between two steps are not changed again.
TEST_F(series_rules, many_tasks_get_their_new_keys_in_steps) {
    std::vector<uuid> all;
    for (int n = 0; n < 4; ++n) {
        all.push_back(created("SYN", {{"description", std::string(step_work_max, 'x')}}).uuid);
    }
    edit_series c = of("SYN");
    c.prefix = "NEW";
    run(c);
    EXPECT_EQ(attribute(all[0], "key"), "NEW-1");
    EXPECT_EQ(attribute(all[1], "key"), "SYN-2");
    EXPECT_TRUE(was_told<events::series_steps_due>());
    const series_id id = all_series::default_of(*store_->begin_read(), account_)->id;
    EXPECT_EQ(ask(find_renamed{}).series, id);
    EXPECT_EQ(ask(find_renamed{id}).series, std::nullopt);
    EXPECT_EQ(std::get<task>(ask(find_task{account_, all[1]})).current_prefix, "NEW");

    run(edit_task{.account = account_, .task = all[2], .changes = {{"project", "p"}}});
    EXPECT_EQ(attribute(all[2], "key"), "NEW-3") << "an edit corrects it";
    const auto edited = find(all[2])->last_seq;
    EXPECT_FALSE(run(update_keys{series_id{id.value + 1}}).has_more) << "not a renamed series";
    EXPECT_TRUE(run(update_keys{id}).has_more);
    EXPECT_EQ(attribute(all[1], "key"), "NEW-2");
    EXPECT_EQ(attribute(all[3], "key"), "SYN-4");
    // A second renaming begins again.
    c.named = "NEW";
    c.prefix = "END";
    run(c);
    EXPECT_EQ(attribute(all[0], "key"), "END-1");
    EXPECT_EQ(attribute(all[1], "key"), "NEW-2");
    while (run(update_keys{id}).has_more) {
    }
    for (int n = 0; n < 4; ++n) {
        EXPECT_EQ(attribute(all[n], "key"), "END-" + std::to_string(n + 1));
    }
    EXPECT_GT(find(all[2])->last_seq, edited);
    EXPECT_EQ(ask(find_renamed{}).series, std::nullopt);
    EXPECT_FALSE(run(update_keys{id}).has_more);
}

TEST_F(series_rules, the_default_may_be_renamed) {
    edit_series c = of("SYN");
    c.prefix = "BOARD";
    run(c);
    EXPECT_EQ(key(""), "BOARD-1");
    EXPECT_EQ(all_series::default_of(*store_->begin_read(), account_)->prefix, "BOARD");
}

// A task keeps the series of its creation when its project changes.
TEST_F(series_rules, a_project_selects_the_series_at_creation_only) {
    make_series({{}, "HOME", "house"});
    EXPECT_EQ(key("", {{"project", "house"}}), "HOME-1");
    edit_task move{account_, *parse_task_ref("HOME-1")};
    move.changes = {{"project", "garden"}};
    EXPECT_EQ(std::get<edit_task::edited>(run(move)).now.current_prefix, "HOME");
    edit_series c = of("HOME");
    c.project = "garden";
    run(c);
    EXPECT_EQ(key("", {{"project", "house"}}), "SYN-1");
    EXPECT_EQ(key("", {{"project", "garden"}}), "HOME-2");
    edit_series taken = of("SYN");
    taken.project = "garden";
    EXPECT_TRUE(is_rejected<project_taken>(taken));
    EXPECT_TRUE(std::holds_alternative<project_taken>(run(create_series{account_, "X", "garden"})));
    c.project = "";
    run(c);
    EXPECT_EQ(key("", {{"project", "garden"}}), "SYN-2");
}

// ---- archived series ----

TEST_F(series_rules, archived_ones_assign_no_numbers_and_resolve) {
    make_series({{}, "HOME", "house"});
    EXPECT_EQ(key("HOME"), "HOME-1");
    const auto pending = std::get<reserve::reserved>(run(reserve{account_, "p", {}, {}, "HOME"}));
    edit_series c = of("HOME");
    c.archived = true;
    EXPECT_TRUE(std::get<series>(run(c)).archived);
    EXPECT_TRUE(
        std::holds_alternative<series_archived>(run(reserve{account_, "x", {}, {}, "HOME"})));
    EXPECT_EQ(key("", {{"project", "house"}}), "SYN-1") << "its project is free";
    EXPECT_EQ(name_of("HOME-1"), "HOME-1");
    // A reservation from before is fulfilled.
    EXPECT_EQ(key_of(std::get<receipted>(run(fulfil{pending.slot, "HOME", {}})).receipt), "HOME-2");
    c.archived = false;
    run(c);
    EXPECT_EQ(key("HOME"), "HOME-3");
    edit_series standard = of("SYN");
    standard.archived = true;
    EXPECT_TRUE(is_rejected<edit_series::default_stays>(standard));
}

// ---- starting numbers ----

TEST_F(series_rules, begin_at_a_given_number) {
    create_series c;
    c.prefix = "INV";
    c.next = 100;
    EXPECT_EQ(make_series(c).last_number, 99);
    EXPECT_EQ(key("INV"), "INV-100");
    edit_series empty = of("SYN");
    empty.next = 7;
    EXPECT_EQ(std::get<series>(run(empty)).last_number, 6);
    EXPECT_EQ(key("SYN"), "SYN-7");
}

TEST_F(series_rules, allow_no_gaps_unless_configured) {
    EXPECT_EQ(key("SYN"), "SYN-1");
    edit_series c = of("SYN");
    c.next = 2;
    EXPECT_TRUE(std::holds_alternative<series>(run(c))) << "an edit without a change";
    c.next = 3;
    EXPECT_TRUE(is_rejected<edit_series::promises_no_gaps>(c));
    c.next = 1;
    const auto low = std::get<edit_series::next_too_low>(run(c));
    EXPECT_EQ(low.least, 2);
    c.next = 10;
    c.allows_gaps = true;
    EXPECT_EQ(std::get<series>(run(c)).last_number, 9);
    EXPECT_EQ(key("SYN"), "SYN-10");
    c.next = 10;
    EXPECT_EQ(std::get<edit_series::next_too_low>(run(c)).least, 11);
    const auto id = all_series::default_of(*store_->begin_read(), account_)->id;
    EXPECT_EQ(numbers::skipped(*store_->begin_read(), id),
              (std::vector<numbers_skipped>{{"", 2, 9}}));
}

TEST_F(series_rules, a_rejected_change_changes_nothing) {
    EXPECT_EQ(key("SYN"), "SYN-1");
    edit_series c = of("SYN");
    c.prefix = "NEW";
    c.next = 5;
    EXPECT_TRUE(is_rejected<edit_series::promises_no_gaps>(c));
    EXPECT_EQ(shown("SYN").prefix, "SYN");
    c = of("SYN");
    c.reset = reset_policy::daily;
    c.prefix = "NEW";
    EXPECT_TRUE(is_rejected<edit_series::reset_is_settled>(c));
    EXPECT_EQ(shown("NEW").prefix, "");
    make_series({{}, "FRESH"});
    edit_series fresh = of("FRESH");
    fresh.reset = reset_policy::yearly;
    EXPECT_EQ(std::get<series>(run(fresh)).reset, reset_policy::yearly);
}

TEST_F(series_rules, have_a_maximum) {
    for (std::size_t n = 1; n < series_max; ++n) {
        write([&](write_tx& tx) {
            all_series::put(tx, account_, "S" + std::to_string(n), "", false, now_);
        });
    }
    EXPECT_TRUE(std::holds_alternative<create_series::too_many_series>(
        run(create_series{account_, "MORE"})));
}

}  // namespace
}  // namespace callsign
