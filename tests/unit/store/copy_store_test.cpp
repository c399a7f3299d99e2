// A copy of a whole store has the same rows, whatever the stores, and however often it is
// interrupted.

#include "support/audit.hpp"
#include "support/faulty_store.hpp"
#include "support/postgres.hpp"
#include "support/temp_dir.hpp"
#include "support/test_server.hpp"

#include <callsign/ports/tables/all.hpp>
#include <callsign/rules/copy_store.hpp>
#include <callsign/store/columns.hpp>
#include <callsign/store/memory.hpp>
#include <callsign/store/sqlite.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace testing;

// The columns of all rows as text.
class columns_as_text final : public columns::encoding_sink {
  public:
    void put_null() override { all += "null,"; }
    void put_integer(std::int64_t value) override { all += std::to_string(value) + ","; }
    void put_text(const std::string& text) override { all += text + ","; }
    void put_bytes(std::string_view bytes) override { all.append(bytes) += ","; }
    void put_made(std::string bytes) override { all += bytes + ","; }
    void put_made_text(std::string text) override { all += text + ","; }

    std::string all;

  private:
    void worked(std::size_t /*more*/) override {}
};

template <class Row>
void add_rows(read_tx& tx, std::map<std::string, std::string>& all) {
    columns_as_text columns;
    tx.scan(range_of<primary_of<Row>>(), [&](const row_of<Row>& row) {
        info_of_table<Row>().put_columns(row.get(), columns);
        columns.all += "\n";
        return true;
    });
    all[std::string(table<Row>::name)] = std::move(columns.all);
}

std::map<std::string, std::string> rows_of(store& s) {
    const auto tx = s.begin_read();
    std::map<std::string, std::string> all;
#define CALLSIGN_TABLE(row) add_rows<row>(*tx, all);
    CALLSIGN_TABLES(CALLSIGN_TABLE)
#undef CALLSIGN_TABLE
    return all;
}

class copies : public ::testing::Test {
  protected:
    copies() : sqlite_(open_sqlite({.data_dir = dir_.path()})) {
        test_server server({.disk = sqlite_.get()});
        for (const char* name : {"one", "two"}) {
            const auto made = server.make_account(name, "SYN");
            server.call(post("/v1/series", R"({"prefix":"OPS","allowsGaps":true})", made.token));
            for (int n = 0; n < 40; ++n) {
                const std::string key = std::string(name) + std::to_string(n);
                const std::string series = n % 3 == 0 ? R"(,"prefix":"OPS")" : "";
                server.call(
                    post("/v1/tasks", R"({"description":"do it")" + series + "}", made.token, key));
            }
            for (const char* const edit : {":complete", ":start"}) {
                server.call(post("/v1/tasks/SYN-1" + std::string(edit), {}, made.token, edit));
            }
            server.call(make_request(boost::beast::http::verb::delete_,
                                     "/v1/tasks/OPS-2?purge=true", {}, bearer(made.token)));
            server.make_token(name, token_scope::read);
            server.run(server.engine().submit(create_device{made.id, "laptop", {}, "key"}));
        }
        // A creation that was not finished.
        reserve open;
        open.account = account_id{1};
        open.key = "open";
        server.run(server.engine().submit(std::move(open)));
    }

    void expect_copy(store& to) {
        const auto none = [](std::string_view, std::int64_t) {};
        rules::copy_store(*sqlite_->begin_read(), to, none);
        EXPECT_EQ(rows_of(to), rows_of(*sqlite_));
        EXPECT_EQ(audit(to), std::vector<std::string>{});
        EXPECT_EQ(to.totals()->last_ids, sqlite_->totals()->last_ids);
        // It goes on where the copied one was.
        test_server server({.seed = 2, .disk = &to});
        const auto token = server.make_token("one", token_scope::write);
        const auto again =
            server.call(post("/v1/tasks", R"({"description":"do it"})", token, "one1"));
        EXPECT_EQ(header(again, "Idempotent-Replayed"), "true") << again.body;
        const auto next = server.call(post("/v1/tasks", R"({"description":"x"})", token, "new"));
        EXPECT_NE(next.body.find("\"number\":27"), std::string::npos) << next.body;
    }

    temp_dir dir_;
    std::unique_ptr<store> sqlite_;
};

TEST_F(copies, a_store_in_memory_has_the_same_rows) {
    const auto to = make_memory_store();
    expect_copy(*to);
}

TEST_F(copies, a_data_directory_has_the_same_rows) {
    const temp_dir other;
    expect_copy(*open_sqlite({.data_dir = other.path()}));
}

TEST_F(copies, a_database_has_the_same_rows) {
    virtual_clock clock;
    expect_copy(*open_postgres_now("copied", clock));
}

TEST_F(copies, an_interrupted_copy_continues) {
    const auto to = make_memory_store();
    std::int64_t copied = 0;
    int interruptions = 0;
    for (bool is_done = false; !is_done;) {
        int commits = 0;
        try {
            rules::copy_store(*sqlite_->begin_read(), *to,
                              [&](std::string_view /*table*/, std::int64_t rows) {
                                  copied = rows;
                                  if (++commits == 3 + interruptions) throw killed{};
                              });
            is_done = true;
        } catch (const killed&) {
            ++interruptions;
        }
    }
    EXPECT_GT(interruptions, 3);
    EXPECT_EQ(copied, 0);
    expect_copy(*to);
}

TEST_F(copies, a_store_with_other_rows_is_not_overwritten) {
    const auto to = make_memory_store();
    {
        test_server other({.disk = to.get()});
        other.make_account("other", "SYN");
    }
    const auto before = rows_of(*to);
    const auto none = [](std::string_view, std::int64_t) {};
    EXPECT_THROW(rules::copy_store(*sqlite_->begin_read(), *to, none), std::runtime_error);
    EXPECT_EQ(rows_of(*to), before);
}

}  // namespace
}  // namespace callsign
