// Compares the key index with a multimap, with limits so small that every path is executed: equal
// hashes, runs without filters, merges interrupted by a rollback or a restart, entries of deleted
// slots.

#include "store/sqlite/index/key_index.hpp"

#include "store/sqlite/tables/migrations.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rows/slots.hpp>
#include <callsign/store/sqlite.hpp>

#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>

namespace callsign::sqlite {
namespace {

using callsign::testing::temp_dir;

class fixture {
  public:
    explicit fixture(key_index_options options) : options_(options) { open(); }

    void open() {
        index_.reset();
        db_.reset();
        db_.emplace(dir_.path() / "index.sqlite3", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                    1u << 20);
        db_->execute("PRAGMA synchronous = OFF");
        db_->execute("PRAGMA journal_mode = MEMORY");
        db_->execute("PRAGMA locking_mode = EXCLUSIVE");
        migrate(*db_);
        index_.emplace(*db_, options_);
        index_->load();
        // `recent` is rebuilt from the slots table; here only runs have keys, so the model drops
        // the others.
        known_.erase_if_unflushed(through());
    }

    void begin() { db_->execute("BEGIN IMMEDIATE"); }
    void add(std::uint64_t hash) {
        index_->add(hash, slot_id{++last_});
        pending_.emplace_back(hash, last_);
    }
    void commit() {
        index_->prepare_commit();
        db_->execute("COMMIT");
        index_->committed();
        for (const auto& [hash, slot] : pending_) known_.rows.emplace(hash, slot);
        pending_.clear();
    }
    void roll_back(bool at_commit) {
        // At the commit: pages and runs are written, then rolled back.
        if (at_commit) index_->prepare_commit();
        db_->execute("ROLLBACK");
        pending_.clear();
        index_->roll_back();
    }

    // The state that a rollback must restore.
    auto look() const {
        return std::tuple(index_->runs(), index_->recent(), index_->added(), index_->dead(),
                          index_->through());
    }

    std::multimap<std::uint64_t, std::int64_t> nominated(std::uint64_t hash) {
        std::multimap<std::uint64_t, std::int64_t> found;
        index_->nominate(hash, [&](slot_id id) {
            found.emplace(hash, id.value);
            return false;
        });
        return found;
    }

    // Every key is nominated, exactly once per run that contains it.
    void expect_all_found() {
        for (const auto& [hash, slot] : known_.rows) {
            const auto found = nominated(hash);
            RC_ASSERT(std::any_of(found.begin(), found.end(),
                                  [&](const auto& f) { return f.second == slot; }));
        }
    }

    std::int64_t through() {
        return db_->integer_of("SELECT coalesce(max(through), 0) FROM key_runs WHERE state = 2");
    }

    struct model {
        std::multimap<std::uint64_t, std::int64_t> rows;
        void erase_if_unflushed(std::int64_t through) {
            std::erase_if(rows, [&](const auto& row) { return row.second > through; });
        }
    };

    temp_dir dir_;
    key_index_options options_;
    std::optional<connection> db_;
    std::optional<key_index> index_;
    model known_;
    std::vector<std::pair<std::uint64_t, std::int64_t>> pending_;
    std::int64_t last_ = 0;
};

RC_GTEST_PROP(key_index, finds_what_a_multimap_finds, ()) {
    fixture f({.recent_max = *rc::gen::inRange<std::size_t>(1, 40),
               .filter_bytes_max = *rc::gen::element<std::size_t>(0, 64, 256, 1u << 20),
               .fan_in = *rc::gen::inRange<std::size_t>(2, 5),
               .merged_per_add = *rc::gen::inRange<std::size_t>(1, 4),
               .pages_deleted_per_commit = *rc::gen::inRange<std::size_t>(1, 4)});
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 30));
    for (const int step : steps) {
        const auto before = f.look();
        f.begin();
        // A small range of hashes, so that equal ones are common.
        const auto hashes = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::oneOf(
            rc::gen::inRange<std::uint64_t>(0, 20), rc::gen::arbitrary<std::uint64_t>()));
        for (const auto hash : hashes) f.add(hash);
        if (step < 4) {
            f.roll_back(step % 2 == 0);
            RC_ASSERT(f.look() == before);
        } else {
            f.commit();
        }
        if (step == 4) f.open();
    }
    f.expect_all_found();
    for (std::uint64_t hash = 0; hash < 25; ++hash) {
        for (const auto& [h, slot] : f.nominated(hash)) {
            const auto [from, to] = f.known_.rows.equal_range(hash);
            RC_ASSERT(std::any_of(from, to, [&](const auto& row) { return row.second == slot; }));
        }
    }
}

TEST(key_index, stays_small_while_it_grows) {
    fixture f({.recent_max = 500, .filter_bytes_max = 4'000, .fan_in = 4});
    std::uint64_t hash = 1;
    for (int batch = 0; batch < 80; ++batch) {
        f.begin();
        for (int i = 0; i < 100; ++i) f.add(hash *= 0x9E3779B97F4A7C15ULL);
        f.commit();
        // At most fan_in runs wait per level, and as many are being merged.
        ASSERT_LE(f.index_->runs(), 4u * 2u * 5u);
        ASSERT_LE(f.index_->recent(), 600u);
        ASSERT_LE(f.index_->filter_bytes(), 4'000u);
    }
    // Only the largest runs have no filter.
    const auto [largest_with, smallest_without] = f.index_->filter_border();
    EXPECT_GT(smallest_without, 0);
    EXPECT_LE(largest_with, smallest_without);
    EXPECT_LE(f.db_->integer_of("SELECT count(*) FROM key_pages"), 3 * 8'000 / 250);
    f.open();
    f.expect_all_found();
}

// The keys of a transaction that failed during a merge are searched at once, and again after the
// merge has ended.
TEST(key_index, a_rollback_in_the_middle_of_a_merge_loses_nothing) {
    fixture f({.recent_max = 300, .filter_bytes_max = 0, .fan_in = 2, .merged_per_add = 2});
    std::uint64_t hash = 1;
    for (int batch = 0; batch < 120; ++batch) {
        f.begin();
        for (int i = 0; i < 50; ++i) f.add(hash *= 0x9E3779B97F4A7C15ULL);
        if (batch % 3 == 1) {
            f.roll_back(true);
        } else {
            f.commit();
        }
    }
    f.expect_all_found();
    f.open();
    f.expect_all_found();
}

TEST(key_index, an_altered_page_is_corruption) {
    fixture f({.recent_max = 10, .filter_bytes_max = 0});
    f.begin();
    for (std::uint64_t i = 1; i <= 10; ++i) f.add(i * 0x9E3779B97F4A7C15ULL);
    f.commit();
    const auto expect_damage = [&](const char* sql) {
        f.begin();
        f.db_->execute(sql);
        try {
            f.nominated(5 * 0x9E3779B97F4A7C15ULL);
            ADD_FAILURE() << sql;
        } catch (const store_failure& failure) {
            EXPECT_EQ(failure.reason(), store_failure::kind::damaged) << failure.what();
            EXPECT_NE(std::string(failure.what()).find("key_pages"), std::string::npos);
        }
        f.db_->execute("ROLLBACK");
    };
    expect_damage("UPDATE key_pages SET entries = x''");
    expect_damage("UPDATE key_pages SET entries = x'00'");
    expect_damage("UPDATE key_pages SET entries = randomblob(160)");
    expect_damage("UPDATE key_pages SET entries = substr(entries, 17)");
    expect_damage("DELETE FROM key_pages");
}

// A committed key is found by any reader that begins later, whatever the writer does.
TEST(key_index, has_committed_keys_on_any_thread) {
    temp_dir dir;
    const auto store = open_sqlite({.data_dir = dir.path(), .recent_keys_max = 4});
    const auto put = [&](write_tx& tx, const std::string& key) {
        slot s;
        s.account = account_id{1};
        s.key = key;
        slots::put(tx, s);
    };
    std::atomic<int> committed{0};
    std::atomic<bool> over{false};
    const auto read = [&] {
        while (!over) {
            const int n = committed;
            const auto tx = store->begin_read();
            for (int back = 1; back <= std::min(n, 6); ++back) {
                const std::string key = "key-" + std::to_string(n - back);
                if (!slots::find(*tx, account_id{1}, key)) return key;
            }
        }
        return std::string();
    };
    auto one = std::async(std::launch::async, read);
    auto two = std::async(std::launch::async, read);
    EXPECT_NO_THROW(for (int n = 0; n < 200; ++n) {
        const auto tx = store->begin_write();
        put(*tx, "key-" + std::to_string(n));
        tx->commit_unsynced();
        committed = n + 1;
        const auto dropped = store->begin_write();
        put(*dropped, "dropped");
        dropped->flush();
    });
    over = true;
    EXPECT_EQ(one.get(), "");
    EXPECT_EQ(two.get(), "");
}

TEST(key_index, a_merge_drops_entries_of_deleted_slots) {
    fixture f({.recent_max = 10, .fan_in = 2, .merged_per_add = 4});
    f.db_->execute(
        "INSERT INTO slots (slot_id, account_id, key, fingerprint, uuid, created_at, attempts,"
        " created, reason, state, expires) VALUES (1000000, 1, 'k', zeroblob(32), zeroblob(16), 0, "
        "1, 1, 0, "
        "1, 0)");
    for (std::uint64_t batch = 0; batch < 100; ++batch) {
        f.begin();
        for (std::uint64_t i = 0; i < 10; ++i) f.add((batch * 10 + i) * 0x9E3779B97F4A7C15ULL);
        f.commit();
    }
    EXPECT_LT(f.db_->integer_of("SELECT sum(entries) FROM key_runs WHERE state = 2"), 100);
}

}  // namespace
}  // namespace callsign::sqlite
