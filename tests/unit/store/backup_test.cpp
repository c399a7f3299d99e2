// Backups of a store that is written to in the meantime, and restores from them.

#include "support/check.hpp"
#include "support/temp_dir.hpp"
#include "support/unsafe_disk.hpp"

#include <callsign/rules/audit.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/Database.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/stat.h>

namespace callsign::testing {
namespace {

namespace fs = std::filesystem;

constexpr time_point now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 20};

class backup : public ::testing::Test {
  protected:
    fs::path data() const { return dir_.path() / "data"; }
    fs::path copies() const { return dir_.path() / "copies"; }
    std::unique_ptr<store> open(const fs::path& where) { return open_sqlite({.data_dir = where}); }

    // Adds this many accounts with long names: several pages of data.
    void fill(store& to, int accounts) {
        const auto tx = to.begin_write();
        for (int n = 0; n < accounts; ++n) {
            const account_id made = accounts::put(
                *tx, "account" + std::to_string(++made_) + std::string(400, 'x'), now);
            all_series::put(*tx, made, "SYN", {}, true, now);
        }
        tx->commit();
    }
    // Writes, and rolls back.
    static void drop_something(store& of) {
        slot dropped;
        dropped.account = account_id{1};
        dropped.key = "dropped";
        const auto tx = of.begin_write();
        slots::put(*tx, dropped);
        tx->flush();
    }
    static std::size_t accounts_in(store& s) {
        return accounts::some(*s.begin_read(), account_id{}, 1'000'000).size();
    }
    backup_manifest copy(store& from, const fs::path& to) {
        const auto copy = from.embedded()->begin_copy(begin_backup(to));
        while (copy->step()) {
        }
        return finish_copy(to);
    }
    static backup_manifest finish_copy(const fs::path& to) {
        return finish_backup(to, now, "0.1.0");
    }
    restored_store restore(const fs::path& from) {
        return restore_sqlite(
            from, data(), now, rules::audit, [this](store&) { ++restored_; },
            [](std::string_view) {});
    }
    std::string fault_of(const fs::path& from) {
        try {
            restore(from);
            return {};
        } catch (const std::runtime_error& wrong) {
            return wrong.what();
        }
    }
    static std::string bytes_of_file(const fs::path& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    temp_dir dir_;
    int made_ = 0;
    int restored_ = 0;
};

TEST_F(backup, is_the_store_at_the_last_step) {
    const auto disk = open(data());
    fill(*disk, 4'000);
    std::unique_ptr<store_copy> pages = disk->embedded()->begin_copy(begin_backup(copies()));
    int steps = 0;
    while (pages->step()) {
        ++steps;
        const amount_done so_far = pages->progress();
        EXPECT_GT(so_far.done, 0);
        EXPECT_LE(so_far.done, so_far.total);
        // Changes pages that were copied already, and others; in one step with a rollback.
        fill(*disk, 20);
        if (steps == 2) drop_something(*disk);
    }
    EXPECT_GE(steps, 2);
    const std::size_t all = accounts_in(*disk);
    pages.reset();
    const backup_manifest m = finish_copy(copies());
    fill(*disk, 1);
    EXPECT_EQ(m.bytes, static_cast<std::int64_t>(fs::file_size(copies() / "callsign.sqlite3")));
    EXPECT_EQ(m, read_manifest(copies()));

    const auto restored = open_sqlite({.data_dir = copies()});
    EXPECT_EQ(accounts_in(*restored), all);
    EXPECT_TRUE(report_on(copies()).ok());
}

TEST_F(backup, fails_when_every_write_is_rolled_back) {
    const auto disk = open(data());
    fill(*disk, 4'000);
    const auto pages = disk->embedded()->begin_copy(begin_backup(copies()));
    const auto copy = [&] {
        while (pages->step()) drop_something(*disk);
    };
    EXPECT_THROW(copy(), store_failure);
}

TEST_F(backup, has_checksums_in_its_pages) {
    const auto disk = open(data());
    fill(*disk, 100);
    copy(*disk, copies());
    std::fstream file(copies() / "callsign.sqlite3",
                      std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(2 * 4096 + 100);
    file.write("other bytes", 11);
    file.close();
    EXPECT_FALSE(report_on(copies()).ok());
}

TEST_F(backup, is_invalid_without_its_manifest) {
    const auto disk = open(data());
    const auto pages = disk->embedded()->begin_copy(begin_backup(copies()));
    while (pages->step()) {
    }
    EXPECT_THROW(read_manifest(copies()), std::runtime_error);
    EXPECT_NE(fault_of(copies()).find("manifest.json"), std::string::npos);
    discard_backup(copies());
    EXPECT_FALSE(fs::exists(copies()));
}

TEST_F(backup, rejects_a_directory_that_is_not_empty) {
    fs::create_directories(copies());
    std::ofstream(copies() / "mine") << "mine";
    EXPECT_THROW(begin_backup(copies()), std::runtime_error);
    EXPECT_THROW(begin_backup("relative"), std::runtime_error);
    EXPECT_THROW(begin_backup(dir_.path() / "no" / "such"), std::runtime_error);
    EXPECT_TRUE(fs::exists(copies() / "mine"));
}

TEST_F(backup, complete_ones_are_listed_in_the_order_of_time) {
    const auto disk = open(data());
    fs::create_directory(copies());
    EXPECT_TRUE(list_backups(dir_.path() / "none").empty());
    for (const int hours : {5, 3, 4}) {
        copy(*disk, copies() / backup_name(now + std::chrono::hours{hours}));
    }
    begin_backup(copies() / backup_name(now));  // begun, without any pages
    copy(*disk, copies() / "mine");
    const auto all = list_backups(copies());
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].filename(), "callsign-2026-11-20T03-00-00.000Z");
    EXPECT_EQ(time_of_backup(all[2].filename().string()), now + std::chrono::hours{5});
}

TEST_F(backup, a_restore_replaces_the_data_and_keeps_the_former_data) {
    {
        const auto disk = open(data());
        fill(*disk, 10);
        copy(*disk, copies());
        fill(*disk, 5);
    }
    std::ofstream(data() / "admin.token") << "cs_old\n";
    const restored_store done = restore(copies());
    EXPECT_EQ(restored_, 1);
    EXPECT_EQ(accounts_in(*open(data())), 10u);
    EXPECT_EQ(accounts_in(*open(done.kept)), 15u);
    EXPECT_FALSE(fs::exists(data() / "admin.token"));
    EXPECT_EQ(bytes_of_file(done.kept / "admin.token"), "cs_old\n");
    EXPECT_FALSE(fs::exists(data() / "restoring"));
    EXPECT_TRUE(report_on(data()).ok());
    // The backup itself is unchanged.
    EXPECT_EQ(finish_copy(copies()), read_manifest(copies()));
}

// When the WAL of the restored store cannot be checkpointed, it remains; without it data would be
// lost.
TEST_F(backup, a_restore_is_complete_or_has_no_effect_whichever_syncs_fail) {
    auto& disk = unsafe_disk::install();
    {
        const auto source = open(data());
        fill(*source, 10);
        copy(*source, copies());
    }
    bool struck = true;
    int rejected = 0;
    for (std::int64_t sync = 1; struck; ++sync) {
        fs::remove_all(data());
        fill(*open(data()), 3);
        std::size_t wanted = 11;
        disk.arm(disk_fault::sync_fails, sync, 1'000);
        try {
            restore_sqlite(
                copies(), data(), now, rules::audit, [this](store& made) { fill(made, 1); },
                [](std::string_view) {});
        } catch (const std::runtime_error&) {
            wanted = 3;
            ++rejected;
        }
        struck = disk.has_struck();
        disk.heal();
        EXPECT_EQ(accounts_in(*open(data())), wanted) << "sync " << sync;
    }
    EXPECT_GT(rejected, 2);
}

TEST_F(backup, can_be_restored_into_a_missing_directory) {
    {
        const auto disk = open_sqlite({.data_dir = dir_.path() / "other"});
        fill(*disk, 3);
        copy(*disk, copies());
    }
    const ::mode_t before = ::umask(0);
    restore(copies());
    ::umask(before);
    EXPECT_EQ(fs::status(data()).permissions(), fs::perms::owner_all);
    EXPECT_EQ(accounts_in(*open(data())), 3u);
}

// The WAL of a killed server belongs to the database file that it was written for.
TEST_F(backup, a_restore_is_not_mixed_with_the_wal_of_a_killed_server) {
    {
        const auto disk = open(data());
        fill(*disk, 10);
        copy(*disk, copies());
        fill(*disk, 5);
        // A copy of the files of a running server, as after a kill.
        fs::copy(data(), dir_.path() / "killed");
    }
    fs::remove_all(data());
    fs::rename(dir_.path() / "killed", data());
    ASSERT_TRUE(fs::exists(data() / "callsign.sqlite3-wal"));
    const restored_store done = restore(copies());
    EXPECT_FALSE(fs::exists(data() / "callsign.sqlite3-wal"));
    EXPECT_EQ(accounts_in(*open(data())), 10u);
    EXPECT_EQ(accounts_in(*open(done.kept)), 15u);
}

TEST_F(backup, an_invalid_one_changes_nothing) {
    {
        const auto disk = open(data());
        fill(*disk, 10);
        copy(*disk, copies());
        fill(*disk, 5);
    }
    const auto unchanged = [&] { return accounts_in(*open(data())) == 15; };
    const fs::path file = copies() / "callsign.sqlite3", manifest = copies() / "manifest.json";
    const std::string good = bytes_of_file(file), said = bytes_of_file(manifest);
    // An altered byte, a missing byte, and an empty file with the checksum of another.
    for (const std::string& bytes : {good.substr(0, 5'000) + "\x7f" + good.substr(5'001),
                                     good.substr(0, good.size() - 1), std::string()}) {
        std::ofstream(file, std::ios::binary) << bytes;
        EXPECT_NE(fault_of(copies()).find("damaged"), std::string::npos);
        EXPECT_TRUE(unchanged());
    }
    std::ofstream(file, std::ios::binary) << good;
    for (const std::string& text :
         {std::string("{"), std::string("{}"), std::string("[]"), std::string(5'000, ' '),
          said.substr(0, said.size() / 2), std::string(R"({"format":2})")}) {
        std::ofstream(manifest, std::ios::binary) << text;
        EXPECT_NE(fault_of(copies()).find("is not a manifest"), std::string::npos) << text;
        EXPECT_TRUE(unchanged());
    }
    std::ofstream(manifest, std::ios::binary) << said.substr(0, said.find("\"schema\":")) +
                                                     "\"schema\":9999" +
                                                     said.substr(said.find(",\"madeAt\""));
    EXPECT_NE(fault_of(copies()).find("newer"), std::string::npos);
    EXPECT_TRUE(unchanged());
    EXPECT_EQ(restored_, 0);
    EXPECT_FALSE(fs::exists(data() / "before-restore"));
}

// Its bytes match the manifest, but its rows are inconsistent.
TEST_F(backup, that_is_not_sound_changes_nothing) {
    {
        const auto disk = open(data());
        fill(*disk, 10);
        copy(*disk, copies());
    }
    {
        SQLite::Database db((copies() / "callsign.sqlite3").string(), SQLite::OPEN_READWRITE);
        db.exec("INSERT INTO counters (series_id, period, last_number) VALUES (1, '', 7)");
    }
    finish_copy(copies());
    EXPECT_NE(fault_of(copies()).find("not sound"), std::string::npos) << fault_of(copies());
    EXPECT_EQ(accounts_in(*open(data())), 10u);
}

TEST_F(backup, is_not_restored_under_a_running_server) {
    const auto disk = open(data());
    copy(*disk, copies());
    EXPECT_NE(fault_of(copies()).find("another callsignd"), std::string::npos);
}

}  // namespace
}  // namespace callsign::testing
