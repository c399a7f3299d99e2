// Goal: fork versions beyond their account's limits are deleted from the file without being read,
// even if other accounts have fork versions between them.

#include "support/temp_dir.hpp"
#include "t0.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/forks.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace callsign {
namespace {

uuid drawn_id(std::uint32_t n) {
    uuid id{};
    id.data[0] = 1;
    for (int i = 0; i < 4; ++i) id.data[15 - i] = static_cast<std::uint8_t>(n >> (8 * i));
    return id;
}

class fork_versions : public ::testing::Test {
  protected:
    fork_versions() {
        sqlite_options options;
        options.data_dir = dir_.path();
        store_ = open_sqlite(options);
    }

    account_id make_account(const std::string& name) {
        const auto tx = store_->begin_write();
        const auto id = accounts::put(*tx, name, t0, account_mode::managed);
        versions::append(*tx, id, drawn_id(++drawn_), t0, {});
        tx->commit();
        return id;
    }
    uuid put(write_tx& tx, account_id account) {
        const uuid id = drawn_id(++drawn_);
        forks::put(tx, account, {{id, 0, t0}, {{1}, {}}}, {10, 1'000'000});
        return id;
    }
    std::int64_t rows() {
        SQLite::Database db((dir_.path() / "callsign.sqlite3").string(), SQLite::OPEN_READONLY, 0,
                            "callsign");
        return db.execAndGet("SELECT count(*) FROM fork_versions").getInt64();
    }
    bool is_there(account_id account, const uuid& id) {
        return forks::find(*store_->begin_read(), account, id).has_value();
    }

    testing::temp_dir dir_;
    std::unique_ptr<store> store_;
    std::uint32_t drawn_ = 0;
};

TEST_F(fork_versions, of_a_busy_account_do_not_fill_the_file) {
    const auto quiet = make_account("quiet");
    const auto busy = make_account("busy");
    std::vector<uuid> kept;
    for (int n = 0; n < 10; ++n) {
        const auto tx = store_->begin_write();
        kept.push_back(put(*tx, quiet));
        tx->commit();
    }
    for (int batch = 0; batch < 100; ++batch) {
        const auto tx = store_->begin_write();
        for (int n = 0; n < 7; ++n) put(*tx, busy);
        // Rows that a failed transaction examined are examined again.
        if (batch % 3 != 0) tx->commit();
        EXPECT_LE(rows(), 2 * (10 + 10) + 7) << batch;
    }
    for (const uuid& id : kept) EXPECT_TRUE(is_there(quiet, id));
}

TEST_F(fork_versions, that_were_deleted_stay_so_after_a_restart) {
    const auto account = make_account("home");
    const auto tx = store_->begin_write();
    const uuid first = put(*tx, account);
    uuid last{};
    for (int n = 0; n < 10; ++n) last = put(*tx, account);
    tx->commit();
    EXPECT_FALSE(is_there(account, first));
    store_.reset();
    store_ = open_sqlite({.data_dir = dir_.path()});
    EXPECT_FALSE(is_there(account, first));
    EXPECT_TRUE(is_there(account, last));
    const auto more = store_->begin_write();
    put(*more, account);
    more->commit();
    EXPECT_TRUE(is_there(account, last));
}

}  // namespace
}  // namespace callsign
