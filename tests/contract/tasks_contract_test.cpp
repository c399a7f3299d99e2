// Store contract: tasks and their authors.

#include "store_contract.hpp"

#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace testing;

TEST_P(store_contract, tasks_are_found_by_uuid_and_by_number) {
    const auto one = make_account("one", "ONE");
    const auto two = make_account("two", "TWO");
    write([&](write_tx& tx) {
        for (int n = 1; n <= 4; ++n) make_task(tx, one, n);
        make_task(tx, two, 1);  // the same uuid in another account is another task
    });
    const auto tx = store_->begin_read();
    const auto series = all_series::default_of(*tx, one);
    const auto third = tasks::find(*tx, series->id, "", 3);
    ASSERT_TRUE(third);
    EXPECT_EQ(third->uuid, uuid_of(3));
    EXPECT_EQ(third->current_prefix, "ONE");
    EXPECT_EQ(third->attributes.at("description"), "task 3");
    EXPECT_EQ(third->attributes.at("tag_x"), "");
    EXPECT_EQ(third->last_seq, 3);
    EXPECT_EQ(tasks::find(*tx, one, uuid_of(3))->id, third->id);
    EXPECT_EQ(key_of(*tasks::find(*tx, two, uuid_of(1))->numbered), "TWO-1");
    for (const auto& head :
         {tasks::find_head(*tx, one, uuid_of(3)), tasks::find_head(*tx, series->id, "", 3)}) {
        ASSERT_TRUE(head);
        EXPECT_EQ(head->id, third->id);
        EXPECT_EQ(head->uuid, third->uuid);
        EXPECT_EQ(head->current_prefix, third->current_prefix);
        EXPECT_EQ(head->numbered, third->numbered);
        EXPECT_EQ(head->last_seq, third->last_seq);
        EXPECT_EQ(head->purged, third->purged);
        EXPECT_TRUE(head->attributes.empty());
    }
    EXPECT_FALSE(tasks::find_head(*tx, series->id, "", 5));
    EXPECT_FALSE(tasks::find_head(*tx, two, uuid_of(3)));
    EXPECT_FALSE(tasks::find(*tx, series->id, "", 5));
    EXPECT_FALSE(tasks::find(*tx, series->id, "2026", 3));
    EXPECT_FALSE(tasks::find(*tx, two, uuid_of(3)));
    for (const auto& from : all_series::of(*tx, one)) {
        for (const std::string& period : numbers::periods(*tx, from.id)) {
            const auto all = tasks::numbered(*tx, from.id, period, 0, 10);
            ASSERT_FALSE(all.empty());
            for (std::size_t n = 0; n < all.size(); ++n) {
                EXPECT_EQ(all[n].account, one);
                EXPECT_EQ(all[n].numbered->number, static_cast<std::int64_t>(n) + 1);
            }
            EXPECT_EQ(tasks::numbered(*tx, from.id, period, 1, 10).size(), all.size() - 1);
            EXPECT_EQ(tasks::numbered(*tx, from.id, period, 0, 1).size(), 1u);
        }
    }
}

// The receipt of a task that a device added, or that was numbered late, has the time of creation,
// not of arrival.
TEST_P(store_contract, receipts_say_when_they_were_made) {
    const auto account = make_account();
    const auto series = all_series::default_of(*store_->begin_read(), account)->id;
    const time_point early = t0 - std::chrono::hours{1};
    const auto receipt_for = [&](write_tx& tx, int n) {
        return receipt{uuid_of(n), "SYN", "", numbers::take(tx, series, ""), 1, early, true};
    };
    const auto brought = [&](int n) {
        task t;
        t.account = account;
        t.uuid = uuid_of(n);
        t.created_at = t0;
        return t;
    };
    write([&](write_tx& tx) {
        task t = brought(1);
        t.numbered = receipt_for(tx, 1);
        tasks::put(tx, t, series);
        tasks::number(tx, tasks::put(tx, brought(2), series), series, receipt_for(tx, 2));
    });
    const auto tx = store_->begin_read();
    for (const int n : {1, 2}) {
        EXPECT_EQ(tasks::find(*tx, account, uuid_of(n))->numbered->created_at, early);
    }
}

TEST_P(store_contract, numbers_are_walked_up_and_down_over_all_or_open_tasks) {
    const auto account = make_account();
    const auto series = all_series::default_of(*store_->begin_read(), account)->id;
    write([&](write_tx& tx) {
        for (int n = 1; n <= 6; ++n) make_task(tx, account, n);
        change(tx, account, 2, {{"status", "completed"}}, false, 7);
        change(tx, account, 3, {{"status", "deleted"}}, false, 8);
        change(tx, account, 4, {}, true, 9);
        change(tx, account, 5, {{"status", "recurring"}}, false, 10);
        change(tx, account, 6, {{"status", "completed"}}, false, 11);
        change(tx, account, 6, {{"status", "pending"}}, false, 12);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto walk = [&](std::int64_t from, bool down, bool open, std::size_t most = 100) {
        std::vector<std::int64_t> numbers;
        tasks::visit_numbered(*tx, {series, "", from, down, open}, [&](task&& t) {
            numbers.push_back(t.numbered->number);
            return numbers.size() < most;
        });
        return numbers;
    };
    using numbers = std::vector<std::int64_t>;
    EXPECT_EQ(walk(0, false, false), (numbers{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(walk(0, false, true), (numbers{1, 5, 6}));
    EXPECT_EQ(walk(1, false, true), (numbers{5, 6}));
    EXPECT_EQ(walk(read_tx::no_limit, true, false), (numbers{6, 5, 4, 3, 2, 1}));
    EXPECT_EQ(walk(6, true, true), (numbers{5, 1}));
    EXPECT_EQ(walk(0, false, false, 2), (numbers{1, 2}));
    EXPECT_EQ(walk(read_tx::no_limit, true, true, 1), numbers{6});
}

TEST_P(store_contract, authors_are_kept_and_have_names) {
    const auto account = make_account();
    token_id token;
    device_id phone;
    write([&](write_tx& tx) {
        token = tokens::put(tx, account, "pipeline", token_scope::write, sha256("t"), t0);
        phone = devices::put(
            tx, {.client_id = uuid_of(90), .account = account, .name = "phone", .sealed_key = "k"});
        versions::append(tx, account, uuid_of(1), t0, {}, token);
        versions::append(tx, account, uuid_of(2), t0, {}, phone);
        versions::append(tx, account, uuid_of(3), t0, {});
        task t;
        t.account = account;
        t.uuid = uuid_of(7);
        t.created_at = t0;
        t.author = phone;
        tasks::put(tx, t, all_series::default_of(tx, account)->id);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto all = versions::some(*tx, account, 0, 10);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].author, author{token});
    EXPECT_EQ(all[1].author, author{phone});
    EXPECT_EQ(all[2].author, author{});
    EXPECT_EQ(tasks::find(*tx, account, uuid_of(7))->author, author{phone});
    EXPECT_EQ(tokens::name_of(*tx, token), "pipeline");
    EXPECT_EQ(tokens::name_of(*tx, phone), "phone");
    EXPECT_EQ(tokens::name_of(*tx, author{}), "");
    EXPECT_EQ(tokens::name_of(*tx, token_id{999}), "");
}

TEST_P(store_contract, a_task_without_a_number_is_open_once_it_has_one) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) {
        task t;
        t.account = account;
        t.uuid = uuid_of(1);
        t.created_at = t0;
        t.attributes = {{"description", "late"}};
        return tasks::put(tx, t, all_series::default_of(tx, account)->id);
    });
    EXPECT_EQ(store_->totals()->tasks, 1);
    EXPECT_EQ(store_->totals()->open_tasks, 0);
    write([&](write_tx& tx) {
        const auto series = all_series::default_of(tx, account);
        tasks::number(tx, id, series->id,
                      {.uuid = uuid_of(1),
                       .prefix = series->prefix,
                       .period = {},
                       .number = numbers::take(tx, series->id, ""),
                       .seq = 1,
                       .created_at = t0});
    });
    EXPECT_EQ(store_->totals()->open_tasks, 1);
}

TEST_P(store_contract, a_task_changes) {
    const auto id = make_account();
    write([&](write_tx& tx) {
        const auto seq = versions::append(tx, id, uuid_of(1), t0, {});
        task t;
        t.account = id;
        t.uuid = uuid_of(70);
        t.last_seq = seq;
        t.attributes = {{"a", "b"}};
        const auto series = all_series::default_of(tx, id);
        tasks::put(tx, t, series->id);
        tasks::update(tx, *tasks::find(tx, id, uuid_of(70)), {{"c", "d"}, {"e", ""}}, false, 5, t0);
    });
    if (GetParam().durable) reopen();
    const auto changed = tasks::find(*store_->begin_read(), id, uuid_of(70));
    EXPECT_EQ(changed->attributes, (attributes{{"c", "d"}, {"e", ""}}));
    EXPECT_EQ(changed->last_seq, 5);
    EXPECT_FALSE(changed->purged);
    write([&](write_tx& tx) { tasks::update(tx, *changed, {}, true, 6, t0); });
    EXPECT_TRUE(tasks::find(*store_->begin_read(), id, uuid_of(70))->purged);
}

}  // namespace
}  // namespace callsign
