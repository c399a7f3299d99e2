// Goal: removed text is in no file of the data directory, and in no backup made afterwards: not in
// free pages, not between rows, not in the WAL.
//
// Method: tasks of all sizes contain a marker. Rows grow, so that pages are split and rows are
// moved; then some tasks are purged and scrubbed, or the account is removed, and the bytes of the
// files are searched.

#include "store/sqlite/connection.hpp"
#include "support/check.hpp"
#include "support/counted_ids.hpp"
#include "support/scrub.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

namespace callsign::testing {
namespace {

namespace fs = std::filesystem;

constexpr int tasks = 45;

class removed_text : public ::testing::Test {
  protected:
    template <class Command>
    typename Command::answer run(const Command& c) {
        now_ += milliseconds{1};
        auto answer = [&] {
            const auto tx = store_->begin_write();
            auto done = rules::apply(*tx, c, rules::moment{now_, ids_});
            tx->commit();
            return done;
        }();
        store_->embedded()->maintain(false);
        return answer;
    }
    void open(const fs::path& where) {
        store_.reset();
        // Small, so that checkpoints run in between and do not wait for readers.
        store_ = open_sqlite({.data_dir = where,
                              .wal_pages_max = 256,
                              .moved_pages_max = 32,
                              .full_retry = milliseconds{0},
                              .buffered_entries_max = 16});
    }
    // Each task is written three times, and grows each time; every third one is kept.
    account_id fill(const std::string& name) {
        const auto id = std::get<account>(run(create_account{name, "SYN", "t", sha256(name)})).id;
        for (int round = 1; round <= 3; ++round) {
            for (int n = 0; n < tasks; ++n) {
                const std::string word = is_purged(n) ? "/purged" : "/kept";
                std::string text;
                while (text.size() < static_cast<std::size_t>(round * (n % 10 == 0 ? 3000 : 40))) {
                    text += word + std::to_string(n);
                }
                if (round == 1) {
                    run(import_tasks{id, {{task_of(n), {{"description", text}}}}});
                } else {
                    run(edit_task{id, task_of(n), {{"description", text}, {word, text}}});
                }
            }
        }
        return id;
    }
    void purge(account_id of) {
        for (int n = 0; n < tasks; ++n) {
            if (!is_purged(n)) continue;
            edit_task c{of, task_of(n)};
            c.purge = true;
            ASSERT_TRUE(std::holds_alternative<edit_task::edited>(run(c)));
        }
        scrub_all([&](auto q) { return rules::read(*store_->begin_read(), q); },
                  [&](auto c) { return std::optional(run(c)); }, 4096);
    }
    static bool is_purged(int n) { return n % 3 != 0; }
    static uuid task_of(int n) { return uuid{{static_cast<std::uint8_t>(n + 1), 1}}; }

    static std::size_t times_in(const fs::path& dir, std::string_view word) {
        std::size_t times = 0;
        for (const auto& file : fs::directory_iterator(dir)) {
            std::ifstream in(file.path(), std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(in), {}};
            for (auto at = bytes.find(word); at != bytes.npos; at = bytes.find(word, at + 1)) {
                ++times;
            }
        }
        return times;
    }
    std::size_t purged_in(const fs::path& dir) { return times_in(dir, "/purged"); }
    fs::path data() const { return dir_.path() / "data"; }

    temp_dir dir_;
    std::unique_ptr<store> store_;
    counted_ids ids_;
    time_point now_{milliseconds{1'700'000'000'000}};
};

TEST_F(removed_text, of_purged_tasks_is_in_no_file) {
    open(data());
    const auto id = fill("a");
    EXPECT_GT(purged_in(data()), 300u);
    purge(id);
    run(clear_log{});
    EXPECT_EQ(purged_in(data()), 0u);
    EXPECT_GT(times_in(data(), "/kept"), 300u);

    const fs::path copy = dir_.path() / "copy";
    auto pages = store_->embedded()->begin_copy(begin_backup(copy));
    while (pages->step()) {
    }
    pages.reset();
    finish_backup(copy, now_, "0.1.0");
    EXPECT_EQ(purged_in(copy), 0u);
    EXPECT_GT(times_in(copy, "/kept"), 300u);
    store_.reset();
    EXPECT_EQ(purged_in(data()), 0u);
    const auto report = report_on(data());
    EXPECT_TRUE(report.ok()) << report.faults.front().text;
}

TEST_F(removed_text, of_removed_accounts_is_in_no_file) {
    open(data());
    const auto stays = fill("stays"), gone = fill("gone");
    purge(stays);
    EXPECT_GT(purged_in(data()), 300u);
    const auto kept = times_in(data(), "/kept");
    run(delete_account{gone});
    now_ += std::chrono::hours{1};
    remove_deleted c{milliseconds{1}, 50};
    do {
        c.from = run(c).next;
    } while (c.from);
    run(clear_log{});
    EXPECT_EQ(purged_in(data()), 0u);
    EXPECT_LT(times_in(data(), "/kept"), kept);
    EXPECT_GT(times_in(data(), "/kept"), 300u);
    const auto report = report_on(data());
    EXPECT_TRUE(report.ok()) << report.faults.front().text;
}

// Rows that grow out of order split pages in the middle, and are moved repeatedly.
TEST_F(removed_text, is_not_left_between_the_rows_of_a_page) {
    open(data());
    store_.reset();
    sqlite::connection db(data() / "callsign.sqlite3", SQLite::OPEN_READWRITE, 1 << 20);
    db.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)");
    db.execute("BEGIN");
    std::minstd_rand draw{1};
    constexpr int rows = 200;
    for (int n = 0; n < rows; ++n) {
        std::string text;
        for (auto words = draw() % 120 + 1; words > 0; --words) text += "/purged";
        const std::string row = std::to_string(n * 77 % rows) + ", '" + text + "')";
        db.execute(("INSERT INTO texts VALUES (" + row).c_str());
    }
    db.execute("UPDATE texts SET text = '/kept'");
    db.execute("COMMIT");
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    EXPECT_EQ(purged_in(data()), 0u);
    EXPECT_EQ(times_in(data(), "/kept"), rows);
}

// A reader may need pages of the WAL while it reads; afterwards they are not needed.
TEST_F(removed_text, leaves_the_wal_after_its_last_reader) {
    open(data());
    purge(fill("a"));
    auto reader = store_->begin_read();
    accounts::all(*reader);
    run(clear_log{});
    EXPECT_GT(purged_in(data()), 0u);
    reader.reset();
    store_->embedded()->maintain(true);
    EXPECT_EQ(purged_in(data()), 0u);
}

// The process was killed before it cleared the WAL, and another one has the file open.
TEST_F(removed_text, leaves_a_wal_that_an_earlier_process_wrote) {
    open(data());
    purge(fill("a"));
    const fs::path killed = dir_.path() / "killed";
    fs::create_directories(killed);
    for (const char* part : {"", "-wal"}) {
        const std::string name = std::string("callsign.sqlite3") + part;
        fs::copy_file(data() / name, killed / name);
    }
    EXPECT_GT(purged_in(killed), 0u);
    std::optional<SQLite::Database> other{(killed / "callsign.sqlite3").string()};
    other->execAndGet("SELECT count(*) FROM sqlite_schema");
    open(killed);
    other.reset();
    store_->embedded()->maintain(false);
    EXPECT_EQ(purged_in(killed), 0u);
}

}  // namespace
}  // namespace callsign::testing
