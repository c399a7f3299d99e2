// Every command for an account that exists, is disabled, is being removed (at each step), and is
// removed: the command may have been admitted before. For an account being removed nothing is
// written, and no error is reported as corruption.

#include "support/audit.hpp"
#include "support/check.hpp"
#include "support/counted_ids.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rows/webhooks.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/memory.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <utility>

namespace callsign::testing {
namespace {

// The rows that a command refers to.
struct named {
    account_id account;
    uuid client{};   // client id of its device
    uuid webhook{};  // webhook of the account
    uuid head{};
    slot_id slot;
    token_id token;
    device_id device;
    std::uint8_t salt = 0;  // makes new ids and names unique
};

constexpr uuid of(std::uint8_t kind, std::uint8_t n) {
    return uuid{{n, kind, 7}};
}
std::vector<operation> makes(const uuid& task) {
    return {{operation_kind::create, task, {}, {}, {}},
            {operation_kind::update, task, "description", "late", {}}};
}

template <class Command>
struct sample_of {};

// A sample of each command: without one, a new command does not compile.
reserve sample(sample_of<reserve>, const named& n) {
    return {n.account, "late" + std::to_string(n.salt), {}, of(1, n.salt), ""};
}
fulfil sample(sample_of<fulfil>, const named& n) {
    return {n.slot, "", {{"description", "late"}}};
}
begin_delivery sample(sample_of<begin_delivery>, const named& n) {
    return {n.slot, "", {{"description", "late"}}};
}
reconcile_pending sample(sample_of<reconcile_pending>, const named&) {
    return {slot_id{}, 100, {}, {}};
}
forget_settled sample(sample_of<forget_settled>, const named&) {
    return {slot_id{}, 100};
}
keep_retry_times sample(sample_of<keep_retry_times>, const named&) {
    return {};
}
create_account sample(sample_of<create_account>, const named& n) {
    const std::string name = "new" + std::to_string(n.account.value) + "-" + std::to_string(n.salt);
    return {name, "NEW", "t", sha256(name)};
}
edit_account sample(sample_of<edit_account>, const named& n) {
    return {n.account, "renamed" + std::to_string(n.salt)};
}
delete_account sample(sample_of<delete_account>, const named& n) {
    return {n.account};
}
remove_deleted sample(sample_of<remove_deleted>, const named&) {
    return {std::chrono::hours{24 * 365}, 1};
}
create_token sample(sample_of<create_token>, const named& n) {
    return {account_ref{n.account}, "late", token_scope::write,
            sha256("late" + std::to_string(n.salt))};
}
revoke_token sample(sample_of<revoke_token>, const named& n) {
    return {n.token, {}};
}
create_series sample(sample_of<create_series>, const named& n) {
    return {.account = n.account, .prefix = "L" + std::to_string(n.salt), .next = 100};
}
edit_series sample(sample_of<edit_series>, const named& n) {
    return {.account = n.account, .named = "SYN", .allows_gaps = true, .next = 1000 + n.salt};
}
import_numbers sample(sample_of<import_numbers>, const named& n) {
    return {.account = n.account, .rows = {{"SYN", 5000 + n.salt, of(2, n.salt), "late"}}};
}
import_tasks sample(sample_of<import_tasks>, const named& n) {
    return {n.account, {{of(3, n.salt), {{"description", "late"}}}}};
}
add_version sample(sample_of<add_version>, const named& n) {
    return {n.client, n.head, makes(of(4, n.salt)), n.account};
}
edit_task sample(sample_of<edit_task>, const named& n) {
    edit_task c{n.account, of(9, 1)};
    c.changes = {{"p", "late" + std::to_string(n.salt)}};
    return c;
}
manage_account sample(sample_of<manage_account>, const named& n) {
    manage_account c;
    c.account = n.account;
    c.head = {1, n.head, 0};
    c.history = {{1, n.head, {}, {}, makes(of(5, n.salt))}};
    c.device_name = "d";
    c.sealed_key = "k";
    return c;
}
take_over_history sample(sample_of<take_over_history>, const named& n) {
    return {.account = n.account, .head = {1, n.head, 0}, .taken = {}};
}
undo_take_over sample(sample_of<undo_take_over>, const named& n) {
    return {.account = n.account};
}
remove_sealed sample(sample_of<remove_sealed>, const named& n) {
    return {.account = n.account};
}
add_sealed_version sample(sample_of<add_sealed_version>, const named& n) {
    return {n.client, n.head, "late", false, n.account};
}
add_sealed_snapshot sample(sample_of<add_sealed_snapshot>, const named& n) {
    return {n.client, n.head, "late", n.account};
}
register_client sample(sample_of<register_client>, const named& n) {
    return {n.client};
}
import_sealed_version sample(sample_of<import_sealed_version>, const named& n) {
    return {n.client, n.head, of(6, n.salt), "late"};
}
import_sealed_snapshot sample(sample_of<import_sealed_snapshot>, const named& n) {
    return {n.client, n.head, {}, 0, "late"};
}
create_device sample(sample_of<create_device>, const named& n) {
    return {n.account, "late" + std::to_string(n.salt), of(7, n.salt), "k"};
}
revoke_device sample(sample_of<revoke_device>, const named& n) {
    return {n.account, n.device};
}
create_webhook sample(sample_of<create_webhook>, const named& n) {
    return {.account = n.account,
            .uuid = of(8, n.salt),
            .url = "https://example.com",
            .filter = "",
            .sealed_secret = "s",
            .start = {{1}, "mark"},
            .count_max = 1000};
}
edit_webhook sample(sample_of<edit_webhook>, const named& n) {
    return {.account = n.account, .uuid = n.webhook, .enabled = false};
}
remove_webhook sample(sample_of<remove_webhook>, const named& n) {
    return {n.account, n.webhook};
}
settle_delivery sample(sample_of<settle_delivery>, const named& n) {
    settle_delivery c{.account = n.account, .uuid = n.webhook};
    c.reached = webhook_start{{1}, "late"};
    c.attempt = webhook_delivery{.id = "late", .at = {}, .delivered = true};
    return c;
}
assign_key sample(sample_of<assign_key>, const named& n) {
    return {n.account, of(10, n.salt), "", ""};
}
take_delivery sample(sample_of<take_delivery>, const named& n) {
    return {.account = n.account};
}
settle sample(sample_of<settle>, const named& n) {
    return {n.account, {}, of(11, n.salt), makes(of(12, n.salt)), {}};
}
apply_remote_version sample(sample_of<apply_remote_version>, const named& n) {
    return {n.account, {}, of(13, n.salt), makes(of(14, n.salt))};
}
apply_remote_state sample(sample_of<apply_remote_state>, const named& n) {
    return {n.account, {{of(15, n.salt), {{"description", "late"}}}}};
}
suspend_effect sample(sample_of<suspend_effect>, const named& n) {
    return {n.account, effect_id{1}, 8};
}
fail_in_flight sample(sample_of<fail_in_flight>, const named& n) {
    return {.account = n.account, .pending = {n.slot}};
}
halt_remote sample(sample_of<halt_remote>, const named& n) {
    return {n.account,
            remote_halt::history_lost,
            {n.account, "https://example.com", of(20, 2), "k", of(19, 1)}};
}
edit_remote sample(sample_of<edit_remote>, const named& n) {
    return {n.account, "https://late.example.com"};
}
move_to_remote sample(sample_of<move_to_remote>, const named& n) {
    return {n.account, "https://late.example.com", of(16, n.salt), "k"};
}
move_to_local sample(sample_of<move_to_local>, const named& n) {
    return {n.account, {}};
}
mark_restored sample(sample_of<mark_restored>, const named& n) {
    return {of(17, n.salt)};
}
resume_series sample(sample_of<resume_series>, const named& n) {
    return {n.account, "SYN"};
}
merge_snapshot sample(sample_of<merge_snapshot>, const named& n) {
    return {n.client, n.head, {{of(18, n.salt), {{"description", "late"}}}}, n.account};
}
recreate_tasks sample(sample_of<recreate_tasks>, const named& n) {
    return {n.client, n.head, {of(9, 1)}, n.account};
}
end_resync sample(sample_of<end_resync>, const named& n) {
    return {n.client, n.account, true};
}
number_tasks sample(sample_of<number_tasks>, const named&) {
    return {series_id{1}};
}
update_keys sample(sample_of<update_keys>, const named&) {
    return {series_id{1}};
}
note_action sample(sample_of<note_action>, const named&) {
    return {"swept"};
}
forget_actions sample(sample_of<forget_actions>, const named&) {
    return {std::chrono::hours{24 * 365}, 1};
}
reseal sample(sample_of<reseal>, const named&) {
    return {};
}
scrub_purged sample(sample_of<scrub_purged>, const named& n) {
    return {n.account, {{n.account, of(9, 1), 1}}};
}
clear_log sample(sample_of<clear_log>, const named&) {
    return {};
}

// Commands that belong to no account: they write shared rows, or another account.
template <class Command>
constexpr bool is_nobodys =
    std::is_same_v<Command, reconcile_pending> || std::is_same_v<Command, forget_settled> ||
    std::is_same_v<Command, keep_retry_times> || std::is_same_v<Command, create_account> ||
    std::is_same_v<Command, remove_deleted> || std::is_same_v<Command, mark_restored> ||
    std::is_same_v<Command, note_action> || std::is_same_v<Command, forget_actions> ||
    std::is_same_v<Command, reseal> || std::is_same_v<Command, clear_log> ||
    std::is_same_v<Command, number_tasks> || std::is_same_v<Command, update_keys>;

// Commands that are admitted only for accounts with readable tasks.
template <class Command>
constexpr bool needs_tasks =
    std::is_same_v<Command, reserve> || std::is_same_v<Command, fulfil> ||
    std::is_same_v<Command, begin_delivery> || std::is_same_v<Command, add_version> ||
    std::is_same_v<Command, edit_task>;

template <class Visit, std::size_t... I>
void for_each_command(const Visit& visit, std::index_sequence<I...>) {
    (visit(sample_of<std::variant_alternative_t<I, command>>{}), ...);
}
template <class Visit>
void for_each_command(const Visit& visit) {
    for_each_command(visit, std::make_index_sequence<std::variant_size_v<command>>{});
}

enum class account_kind { managed, opaque, remote };

struct place_of_test {
    const char* name;
    bool in_sqlite;
    account_kind kind;
};

class gone_account : public ::testing::TestWithParam<place_of_test> {
  protected:
    gone_account() {
        reopen();
        furnish();
        furnish_neighbour();
    }

    void reopen() {
        if (!GetParam().in_sqlite) {
            if (!store_) store_ = make_memory_store();
            return;
        }
        store_.reset();
        store_ = open_sqlite({.data_dir = dir_.path(), .buffered_entries_max = 8});
    }

    // Applies the command as the writer does. Returns nullopt if it was not applied.
    template <class Command>
    std::optional<typename Command::answer> run(const Command& c) {
        const auto tx = store_->begin_write();
        now_ += milliseconds{1};
        const command any{c};
        if (rules::is_for_gone(*tx, any)) return std::nullopt;
        rules::moment m{now_, ids_};
        m.events = &told_;
        auto answer = rules::apply(*tx, c, m);
        tx->commit();
        return answer;
    }

    void furnish() {
        const auto kind = GetParam().kind;
        create_account c{"gone", "SYN", "t", sha256("gone")};
        name_.client = of(20, 1);
        if (kind == account_kind::opaque) c.client_id = name_.client;
        if (kind == account_kind::remote) {
            c.remote = create_account::remote_endpoint{"https://example.com", of(20, 2), "k"};
        }
        name_.account = std::get<account>(*run(c)).id;
        name_.token = tokens::of(*store_->begin_read(), name_.account).front().id;
        run(create_token{account_ref{name_.account}, "second", token_scope::read, sha256("s")});
        run(create_series{.account = name_.account, .prefix = "GAP", .allows_gaps = true});
        run(edit_series{.account = name_.account, .named = "GAP", .next = 7});
        name_.webhook = of(20, 3);
        {
            const auto tx = store_->begin_write();
            webhook w;
            w.account = name_.account;
            w.uuid = name_.webhook;
            w.sealed_secret = "s";
            w.created_at = now_;
            webhooks::put_delivery(*tx, webhooks::put(*tx, w), {.id = "1", .at = now_});
            tx->commit();
        }
        if (kind == account_kind::opaque) {
            for (int n = 0; n < 3; ++n) {
                run(add_sealed_version{name_.client, head(), "sealed", false, name_.account});
            }
            run(add_sealed_snapshot{name_.client, head(), "snapshot", name_.account});
            run(assign_key{name_.account, of(9, 1), "", ""});
        }
        if (kind == account_kind::remote) {
            run(apply_remote_version{name_.account, {}, of(19, 1), makes(of(9, 1))});
        }
        if (kind == account_kind::managed) {
            run(create_device{name_.account, "d", name_.client, "k"});
            for (std::uint8_t n = 1; n <= 5; ++n) {
                run(import_tasks{name_.account, {{of(9, n), {{"description", "x"}}}}});
            }
            const uuid parent = head();
            edit_task edit{name_.account, of(9, 1)};
            edit.changes = {{"p", "v"}};
            run(edit);
            // A stale version, which creates a fork version.
            run(add_version{name_.client,
                            parent,
                            {{operation_kind::update, of(9, 1), "q", "v", {}}},
                            name_.account});
        }
        const auto devices = devices::of(*store_->begin_read(), name_.account);
        if (!devices.empty()) name_.device = devices.front().id;
        name_.head = head();
    }
    void furnish_neighbour() { run(create_account{"stays", "SYN", "t", sha256("stays")}); }
    uuid head() { return accounts::head_of(*store_->begin_read(), name_.account).version; }

    void reserve_one() {
        if (GetParam().kind == account_kind::opaque) return;
        const auto done = run(reserve{name_.account, "first", {}, {}, ""});
        name_.slot = std::get<reserve::reserved>(*done).slot;
        if (GetParam().kind == account_kind::remote) {
            const auto tx = store_->begin_write();
            slots::fail(*tx, name_.slot, failure_reason::window_passed, now_);
            tx->commit();
        } else {
            run(fulfil{name_.slot, "", {{"description", "x"}}});
        }
    }

    std::optional<remove_deleted::place> remove_a_step(std::optional<remove_deleted::place> from) {
        constexpr std::int64_t few_rows = 5;
        const remove_deleted c{milliseconds{1}, few_rows, from};
        const auto done = *run(c);
        removed_ += done.removed;
        return done.next;
    }

    // All rows of all tables in SQLite, except those that any transaction may change; empty for the
    // in-memory store.
    std::map<std::string, std::string> rows() {
        std::map<std::string, std::string> all;
        if (!GetParam().in_sqlite) return all;
        store_.reset();
        {
            SQLite::Database db((dir_.path() / "callsign.sqlite3").string());
            SQLite::Statement tables(db, "SELECT name FROM sqlite_master WHERE type = 'table'");
            while (tables.executeStep()) {
                const std::string name = tables.getColumn(0);
                std::string& text = all[name];
                SQLite::Statement of_one(db, "SELECT * FROM \"" + name + "\"");
                while (of_one.executeStep()) {
                    for (int i = 0; i < of_one.getColumnCount(); ++i) {
                        text += of_one.getColumn(i).getString() + '|';
                    }
                    text += '\n';
                }
            }
        }
        reopen();
        return all;
    }

    // Runs all commands; none may write anything.
    void try_all_in_vain(const std::string& when) {
        const auto before = rows();
        told_.clear();
        const bool has_client = devices::find(*store_->begin_read(), name_.client).has_value();
        for_each_command([&]<class Command>(sample_of<Command> which) {
            if constexpr (is_nobodys<Command>) return;
            // The command creates an account for a client that belongs to none.
            if (std::is_same_v<Command, register_client> && !has_client) return;
            run(sample(which, name_));
        });
        EXPECT_TRUE(told_.empty()) << when << ": an event was reported";
        for (const auto& [table, text] : rows()) {
            EXPECT_EQ(text, before.at(table)) << when << ": " << table;
        }
    }
    // Runs all commands, with any result.
    void try_all() {
        ++name_.salt;
        for_each_command([&]<class Command>(sample_of<Command> which) {
            // The command would end the account.
            if (std::is_same_v<Command, delete_account>) return;
            if (needs_tasks<Command> && GetParam().kind == account_kind::opaque) return;
            run(sample(which, name_));
        });
    }
    void try_nobodys() {
        ++name_.salt;
        for_each_command([&]<class Command>(sample_of<Command> which) {
            if constexpr (is_nobodys<Command>) run(sample(which, name_));
        });
    }

    void set_state(account_state state) {
        edit_account c{name_.account};
        c.disabled = state == account_state::disabled;
        run(c);
    }

    temp_dir dir_;
    std::unique_ptr<store> store_;
    counted_ids ids_;
    time_point now_{milliseconds{1'700'000'000'000}};
    std::vector<event> told_;
    named name_;
    std::int64_t removed_ = 0;
};

TEST_P(gone_account, rejects_all_commands_at_any_step_of_its_removal) {
    reserve_one();
    run(delete_account{name_.account});
    run(forget_settled{slot_id{}, 100, milliseconds{0}, std::chrono::hours{24}});
    now_ += std::chrono::hours{1};
    int steps = 0;
    std::optional<remove_deleted::place> at;
    do {
        at = remove_a_step(at);
        ++steps;
        ASSERT_LT(steps, 100);
        try_all_in_vain("after step " + std::to_string(steps));
        try_nobodys();
    } while (at);
    EXPECT_GT(steps, 2) << "no command came between two steps";
    EXPECT_EQ(removed_, 1);
    EXPECT_EQ(audit(*store_), std::vector<std::string>{});
    if (!GetParam().in_sqlite) return;
    const auto report = report_on(dir_.path());
    EXPECT_TRUE(report.ok()) << report.faults.front().text;
}

TEST_P(gone_account, accepts_all_commands_before) {
    reserve_one();
    try_all();
    EXPECT_EQ(audit(*store_), std::vector<std::string>{});
}

TEST_P(gone_account, accepts_commands_admitted_before_it_was_disabled) {
    reserve_one();
    set_state(account_state::disabled);
    try_all();
    EXPECT_EQ(audit(*store_), std::vector<std::string>{});
}

// The slot would be newer than those that the removal waits for, and would remain.
TEST_P(gone_account, creates_no_slot_once_it_is_deleted) {
    run(delete_account{name_.account});
    EXPECT_FALSE(run(reserve{name_.account, "late", {}, {}, ""}));
}

INSTANTIATE_TEST_SUITE_P(
    places, gone_account,
    ::testing::Values(place_of_test{"memory_managed", false, account_kind::managed},
                      place_of_test{"memory_opaque", false, account_kind::opaque},
                      place_of_test{"memory_remote", false, account_kind::remote},
                      place_of_test{"sqlite_managed", true, account_kind::managed},
                      place_of_test{"sqlite_opaque", true, account_kind::opaque},
                      place_of_test{"sqlite_remote", true, account_kind::remote}),
    [](const auto& its) { return std::string(its.param.name); });

}  // namespace
}  // namespace callsign::testing
