// Import of existing numbers: all rows, or none.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

class number_imports : public managed_account {
  protected:
    using row = import_numbers::row;
    using kind = import_numbers::fault_kind;

    static row numbered(std::int64_t number, int id, const std::string& prefix = "SYN") {
        row r;
        r.prefix = prefix;
        r.number = number;
        r.uuid = uuid_of(id);
        r.title = "task " + std::to_string(id);
        r.created_at = t0 - std::chrono::hours{24 * 30 + 12} + std::chrono::hours{id};
        return r;
    }
    import_numbers of(std::vector<row> rows) {
        import_numbers c;
        c.account = account_;
        c.rows = std::move(rows);
        return c;
    }
    import_numbers::done done(const import_numbers& c) {
        const auto answer = run(c);
        EXPECT_TRUE(std::holds_alternative<import_numbers::done>(answer));
        return std::get<import_numbers::done>(answer);
    }
    std::string faults(const import_numbers& c) {
        const auto before = head().seq;
        const auto answer = run(c);
        EXPECT_EQ(head().seq, before) << "nothing is imported";
        if (!std::holds_alternative<import_numbers::rejected>(answer)) return "(none)";
        constexpr const char* names[] = {"unknown", "archived", "number", "uuid",
                                         "gap",     "passed",   "future"};
        std::string text;
        for (const auto& f : std::get<import_numbers::rejected>(answer).faults) {
            text += (text.empty() ? "" : ", ") + std::to_string(f.row) + " " +
                    names[static_cast<int>(f.kind)] + " " + f.key;
        }
        return text;
    }
    std::string next_key() {
        const auto slot = reserved("k" + std::to_string(++keys_));
        return key_of(std::get<receipted>(run(fulfil{slot, "", {}})).receipt);
    }

    int keys_ = 0;
};

TEST_F(number_imports, keep_every_number_and_continue_after_the_highest) {
    const auto all = done(of({numbered(1, 11), numbered(2, 12), numbered(3, 13)}));
    EXPECT_EQ(all.imported, 3);
    EXPECT_EQ(head().seq, 1) << "one version has all of them";
    const task second = *find(uuid_of(12));
    EXPECT_EQ(key_of(*second.numbered), "SYN-2");
    EXPECT_EQ(second.attributes.at("description"), "task 12");
    EXPECT_EQ(second.attributes.at("key"), "SYN-2");
    EXPECT_EQ(second.attributes.at("status"), "pending");
    EXPECT_EQ(second.numbered->created_at, numbered(2, 12).created_at);
    EXPECT_EQ(next_key(), "SYN-4");
}

TEST_F(number_imports, can_be_repeated_after_an_interruption) {
    const auto table = of({numbered(1, 11), numbered(2, 12), numbered(3, 13)});
    done(of({numbered(1, 11), numbered(2, 12)}));
    const auto rest = done(table);
    EXPECT_EQ(rest.imported, 1);
    EXPECT_EQ(rest.there_already, 2);
    EXPECT_EQ(done(table).there_already, 3);
    EXPECT_EQ(head().seq, 2);
}

TEST_F(number_imports, report_every_conflicting_row) {
    done(of({numbered(1, 1)}));
    auto late = numbered(3, 9);
    late.created_at = now_ + std::chrono::hours{1};
    EXPECT_EQ(faults(of({numbered(2, 2), numbered(4, 4), numbered(1, 5), numbered(3, 1),
                         numbered(1, 7, "NONE"), numbered(3, 2), late})),
              "1 gap SYN-3, 2 number " + to_string(uuid_of(1)) +
                  ", 3 uuid SYN-1, 4 unknown NONE, "
                  "5 uuid SYN-3, 6 future ");
    EXPECT_FALSE(find(uuid_of(2)));
}

TEST_F(number_imports, leave_gaps_only_where_they_are_allowed) {
    const auto table = of({numbered(3, 3), numbered(4, 4), numbered(9, 9)});
    EXPECT_EQ(faults(table), "0 gap SYN-1, 2 gap SYN-5");
    edit_series c;
    c.account = account_;
    c.named = "SYN";
    c.allows_gaps = true;
    run(c);
    EXPECT_EQ(done(table).imported, 3);
    EXPECT_EQ(next_key(), "SYN-10");
    EXPECT_EQ(faults(of({numbered(5, 5)})), "0 number SYN-5")
        << "the number was skipped permanently";
}

// A part of a larger table is checked as if the parts before it were imported.
TEST_F(number_imports, can_be_checked_without_an_import) {
    auto first = of({numbered(1, 1), numbered(2, 2)});
    first.check_only = true;
    EXPECT_EQ(done(first).imported, 2);
    EXPECT_EQ(head().seq, 0);
    auto second = of({numbered(3, 3), numbered(5, 5)});
    second.check_only = true;
    second.rows[0].after = 2;
    second.rows[1].after = 3;
    EXPECT_EQ(faults(second), "1 gap SYN-4");
    second.check_only = false;
    EXPECT_EQ(faults(second), "0 gap SYN-1, 1 gap SYN-4") << "as the store is now";
}

TEST_F(number_imports, of_a_series_that_resets_lie_in_the_period_of_their_creation) {
    create_series daily;
    daily.account = account_;
    daily.prefix = "INC";
    daily.reset = reset_policy::daily;
    run(daily);
    auto a = numbered(1, 1, "INC"), b = numbered(2, 2, "INC"), c = numbered(1, 25, "INC");
    EXPECT_EQ(faults(of({c, a})), "1 passed INC-20231015-1");
    EXPECT_EQ(done(of({a, b, c})).imported, 3);
    EXPECT_EQ(key_of(*find(uuid_of(2))->numbered), "INC-20231015-2");
    EXPECT_EQ(key_of(*find(uuid_of(25))->numbered), "INC-20231016-1");
    EXPECT_EQ(faults(of({numbered(3, 3, "INC")})), "0 passed INC-20231015-3");
}

TEST_F(number_imports, commit_the_slots_that_wait_for_their_tasks) {
    const auto slot = reserved("k", uuid_of(11));
    done(of({numbered(1, 11)}));
    const auto answer = std::get<receipted>(run(fulfil{slot, "", {}}));
    EXPECT_EQ(key_of(answer.receipt), "SYN-1");
    EXPECT_FALSE(answer.receipt.created);
}

TEST_F(number_imports, need_an_existing_managed_account) {
    auto c = of({numbered(1, 1)});
    c.account = account_id{999};
    EXPECT_TRUE(std::holds_alternative<no_such_account>(run(c)));
    c.account = make("sealed", uuid_of(77));
    EXPECT_TRUE(std::holds_alternative<account_is_opaque>(run(c)));
}

}  // namespace
}  // namespace callsign
