// Goal: whatever a single disk call does - a read or a write fails, a read is short, the disk is
// full, a sync fails, memory is exhausted, the power fails - every acknowledged creation returns
// its receipt again, at once and after a restart; so do acknowledged edits and sealed versions; and
// `callsign check` reports nothing.
//
// Method: a script for the whole server without sockets (creations, retries, edits, sync, a sweep,
// merges of keys, checkpoints, restarts) on a store whose limits are so small that the script
// exceeds all of them. The simulated disk numbers its calls. The script runs once for each call and
// each error injected there; then everything is queried again.
//
// CALLSIGN_DISK_STRIDE selects every n-th call; see README.md for a full run.

#include "support/audit.hpp"
#include "support/check.hpp"
#include "support/later_steps.hpp"
#include "support/setting.hpp"
#include "support/sync_client.hpp"
#include "support/temp_dir.hpp"
#include "support/unsafe_disk.hpp"

#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

// Number of calls for which an error lasts: a full disk stays full for a while.
std::int64_t lasts(disk_fault what) {
    return what == disk_fault::disk_is_full ? 40 : 1;
}

class server {
  public:
    explicit server(unsafe_disk& disk) : disk_(disk) { std::filesystem::create_directories(at_); }
    ~server() {
        server_.reset();
        store_.reset();
        disk_.forget(at_);
    }
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    // ---- the script ----

    void prepare() {
        start();
        for (const char* name : {"one", "two"}) {
            tokens_.push_back(server_->make_account(name, "SYN").token);
        }
    }

    void run() {
        for (int round = 0; round < 6; ++round) {
            together(8);
            retry(round * 5);
            edit(round * 3);
            sync();
            sync();
            sweep();
            if (round == 2) restart();
            if (round == 4) kill();
        }
    }

    // ---- after it ----

    // Without disk errors every receipt, edit and version is there; at once, unless the server has
    // ended.
    std::string after() {
        disk_.heal();
        if (disk_.is_off() || !server_ || server_->fatal() || server_->engine().is_corrupt())
            kill();
        std::string wrong = audit_all("at once: ");
        kill();
        wrong += audit_all("after a kill: ");
        restart();
        wrong += audit_all("after a restart: ");
        server_.reset();
        store_.reset();
        const auto report = report_on(at_);
        for (const auto& f : report.faults) wrong += "check: " + f.text + "\n";
        return wrong;
    }

    std::size_t receipts() const { return receipts_.size(); }

  private:
    static sqlite_options options_at(const std::filesystem::path& dir) {
        sqlite_options options;
        options.data_dir = dir;
        options.recent_keys_max = 4;
        options.buffered_entries_max = 4;
        options.key_filter_bytes_max = 256;
        options.wal_pages_max = 24;
        options.moved_pages_max = 4;
        options.readers = 1;
        options.cache_bytes = 64u << 10;
        options.full_retry = milliseconds{0};
        return options;
    }

    // A read error while the store was opened blocks writing until a later attempt succeeds.
    bool is_to_be_opened_again() {
        if (disk_.armed_with() != disk_fault::read_fails || !disk_.has_struck()) return false;
        try {
            store_->begin_write();
        } catch (const store_failure&) {
            return true;
        }
        return false;
    }

    void start() {
        store_.reset();
        // The start is retried as long as the error lasts, as a service manager does.
        for (int attempt = 1; !store_; ++attempt) {
            try {
                store_ = open_sqlite(options_at(at_));
                if (is_to_be_opened_again()) store_.reset();
            } catch (const std::runtime_error&) {
                if (disk_.is_off()) return move();
                if (attempt == 100) throw;
            }
        }
        test_server_options options{.disk = store_.get(), .clock = &clock_, .entropy = &entropy_};
        options.reaper.window = std::chrono::minutes{10};
        options.reaper.retention = std::chrono::hours{99};
        options.service.sync.open_registration = true;
        options.service.sync.turnstile = milliseconds{0};
        server_.emplace(std::move(options));
    }
    // A regular stop, which checkpoints everything.
    void restart() {
        if (disk_.is_off()) return kill();
        server_.reset();
        store_.reset();
        start();
    }
    // The next process finds the files as they are.
    void kill() {
        if (!disk_.is_off()) {
            const auto next = next_life();
            for (const auto& file : std::filesystem::directory_iterator(at_)) {
                const auto name = file.path().filename();
                if (name != "callsign.lock" && name != "callsign.sqlite3-shm") {
                    std::filesystem::copy_file(file, next / name);
                }
            }
            // Calls for the killed process's files are neither counted nor fail.
            disk_.ignore_calls(true);
            server_.reset();
            store_.reset();
            disk_.ignore_calls(false);
            disk_.forget(at_);
            at_ = next;
            return start();
        }
        move();
    }
    // Continues in the directory that holds the files after the power failure.
    void move() {
        const auto next = next_life();
        disk_.strike(at_, next, entropy_);
        disk_.heal();
        server_.reset();
        store_.reset();
        at_ = next;
        start();
    }
    std::filesystem::path next_life() {
        const auto next = dir_.path() / ("life-" + std::to_string(++lives_));
        std::filesystem::create_directories(next);
        return next;
    }

    // Restarts a server that has ended, as a service manager does. The server may end only if an
    // outcome is unknown, and may stop writing only after corruption: a full disk or a failed read
    // causes neither.
    void revive() {
        const bool ended = !server_ || server_->fatal() || server_->engine().is_corrupt();
        const auto what = disk_.armed_with();
        const bool is_over = what == disk_fault::disk_is_full || what == disk_fault::read_fails;
        if (ended && is_over) {
            wrong_ += "ended: " + server_->fatal().value_or("damage") + "\n";
        }
        if (disk_.is_off() || ended) kill();
    }

    net::http_response call(net::http_request request) {
        revive();
        return server_->call(std::move(request));
    }

    net::http_request creation(const std::string& key) const {
        const auto series = series_of_.find(key);
        return post("/v1/tasks",
                    R"({"description":")" + key +
                        (series == series_of_.end() ? R"("})"
                                                    : R"(","prefix":")" + series->second + R"("})"),
                    tokens_[key.size() % 2], key);
    }

    void answered(const std::string& key, const net::http_response& response) {
        if (response.status >= 500) return;
        if (response.status == 400 && series_of_.contains(key)) return;  // no series
        // A sweep has failed the slot for good before a retry fulfilled it.
        const bool is_failed = response.body.find("slot-failed") != std::string::npos;
        if (is_failed && !receipts_.contains(key)) return void(failed_.insert(key));
        if (response.status != 201 || failed_.contains(key)) {
            wrong_ += key + ": " + response.body + "\n";
            return;
        }
        const auto [known, is_new] = receipts_.emplace(key, response.body);
        if (!is_new && known->second != response.body) {
            wrong_ += key + ": " + known->second + " then " + response.body + "\n";
        }
    }

    // Sends many requests, which share batches.
    void together(int n) {
        revive();
        std::vector<std::pair<std::string, std::shared_ptr<std::optional<net::http_response>>>> all;
        // Also creates a series, with its first tasks.
        const std::string prefix = "S" + std::to_string(keys_);
        server_->start(post("/v1/series", R"({"prefix":")" + prefix + R"("})", tokens_[0]));
        server_->start(post("/v1/series", R"({"prefix":")" + prefix + R"("})", tokens_[1]));
        for (int i = 0; i < n; ++i) {
            ++keys_;
            const std::string key = std::string(1 + keys_ % 3u, 'k') + std::to_string(keys_);
            sent_.push_back(key);
            if (i < 2) series_of_.emplace(key, prefix);
            all.emplace_back(key, server_->start(creation(key)));
        }
        server_->advance(milliseconds{1});
        for (const auto& [key, response] : all) {
            if (*response) answered(key, **response);
        }
    }
    void retry(int which) {
        const auto key = sent_[static_cast<std::size_t>(which) % sent_.size()];
        answered(key, call(creation(key)));
    }
    void edit(int which) {
        if (receipts_.empty()) return;
        auto chosen = receipts_.begin();
        std::advance(chosen, static_cast<std::size_t>(which) % receipts_.size());
        const auto& key = chosen->first;
        const std::string text = "edit " + std::to_string(++edits_);
        header_list headers = bearer(tokens_[key.size() % 2]);
        headers.emplace_back("Content-Type", "application/merge-patch+json");
        const auto response = call(make_request(verb::patch, "/v1/tasks/" + uuid_of(chosen->second),
                                                R"({"description":")" + text + R"("})", headers));
        auto& said = said_.try_emplace(key, std::set{key}).first->second;
        if (response.status == 200) said.clear();
        said.insert(text);
        if (response.status != 200 && response.status < 500) wrong_ += "edit: " + response.body;
    }
    // Syncs the client of an opaque account, which retries after lost responses.
    void sync() {
        for (int attempt = 0; attempt < 3; ++attempt) {
            const auto response = call(add_version(client_, head_, std::string(3000, 's')));
            if (response.status == 409) {  // the previous attempt was accepted
                const auto child = call(child_of(client_, head_));
                if (child.status == 200) accepted(header(child, "X-Version-Id"));
                continue;
            }
            if (response.status == 200) accepted(header(response, "X-Version-Id"));
            return;
        }
    }
    void accepted(std::string_view version) {
        chain_.emplace_back(head_, std::string(version));
        head_ = version;
    }
    void sweep() {
        revive();
        server_->advance(std::chrono::minutes{11});
        server_->run(server_->reaper().sweep_once());
        call(get("/v1/tasks/SYN-1", tokens_[0]));
    }

    static std::string uuid_of(const std::string& receipt) {
        return std::string(boost::json::parse(receipt).as_object().at("uuid").as_string());
    }

    std::string audit_all(const std::string& when) {
        std::string wrong;
        std::swap(wrong, wrong_);
        for (const auto& [key, receipt] : receipts_) {
            const auto again = call(creation(key));
            if (again.status != 201 || again.body != receipt) {
                wrong += when + key + ": " + receipt + " then " + std::to_string(again.status) +
                         " " + again.body + "\n";
            }
            const auto said = said_.find(key);
            if (said == said_.end()) continue;
            const auto task = call(get("/v1/tasks/" + uuid_of(receipt), tokens_[key.size() % 2]));
            if (task.status == 200 && is_said(said->second, task.body)) continue;
            wrong += when + key + ": " + task.body + "\n";
        }
        for (const auto& [parent, version] : chain_) {
            const auto child = call(child_of(client_, parent));
            if (child.status != 200 || header(child, "X-Version-Id") != version) {
                wrong += when + "the version after " + parent + " is lost\n";
            }
        }
        for (const auto& broken : audit(*store_)) wrong += when + broken + "\n";
        return wrong;
    }
    static bool is_said(const std::set<std::string>& said, const std::string& body) {
        const auto task = boost::json::parse(body).as_object();
        return said.contains(std::string(task.at("description").as_string()));
    }

    unsafe_disk& disk_;
    temp_dir dir_;
    std::filesystem::path at_ = dir_.path() / "life-0";
    int lives_ = 0;
    virtual_clock clock_;
    seeded_entropy entropy_{7};
    std::unique_ptr<store> store_;
    std::optional<test_server> server_;
    std::vector<std::string> tokens_;

    unsigned keys_ = 0;
    int edits_ = 0;
    std::vector<std::string> sent_;
    std::map<std::string, std::string> series_of_;       // of keys with a series
    std::map<std::string, std::string> receipts_;        // by key
    std::set<std::string> failed_;                       // keys
    std::map<std::string, std::set<std::string>> said_;  // last known edit, and those in doubt
    const std::string client_ = some_id(5);
    std::string head_ = nil_id;
    std::vector<std::pair<std::string, std::string>> chain_;
    std::string wrong_;
};

struct fault_of_disk {
    const char* name;
    disk_fault what;
};

void PrintTo(const fault_of_disk& f, std::ostream* out) {
    *out << f.name;
}

std::int64_t stride_or(std::int64_t usual) {
    return static_cast<std::int64_t>(
        setting("CALLSIGN_DISK_STRIDE").value_or(static_cast<std::uint64_t>(usual)));
}

class struck_disk : public ::testing::TestWithParam<fault_of_disk> {};

TEST_P(struck_disk, any_call_may_fail_and_nothing_acknowledged_is_lost) {
    auto& unsafe = unsafe_disk::install();
    const disk_fault what = GetParam().what;
    std::int64_t calls = 0;
    {
        server sound(unsafe);
        sound.prepare();
        unsafe.arm(what, INT64_MAX);
        sound.run();
        calls = unsafe.seen();
        EXPECT_EQ(sound.after(), "");
        ASSERT_GE(sound.receipts(), 36u);
    }
    ASSERT_GT(calls, 40);
    const std::int64_t stride = stride_or(std::max<std::int64_t>(1, calls / CALLSIGN_DISK_CALLS));
    std::int64_t struck = 0;
    for (std::int64_t call = 1; call <= calls; call += stride) {
        server s(unsafe);
        s.prepare();
        unsafe.arm(what, call, lasts(what), static_cast<std::uint64_t>(call));
        s.run();
        struck += unsafe.has_struck() ? 1 : 0;
        ASSERT_EQ(s.after(), "") << "call " << call << " of " << calls;
    }
    RecordProperty("calls", static_cast<int>(calls));
    RecordProperty("struck", static_cast<int>(struck));
    std::cout << GetParam().name << ": " << calls << " calls, " << struck << " failed\n";
    EXPECT_GT(struck, 0);
}

INSTANTIATE_TEST_SUITE_P(
    faults, struck_disk,
    ::testing::Values(fault_of_disk{"read_fails", disk_fault::read_fails},
                      fault_of_disk{"read_is_short", disk_fault::read_is_short},
                      fault_of_disk{"write_fails", disk_fault::write_fails},
                      fault_of_disk{"disk_is_full", disk_fault::disk_is_full},
                      fault_of_disk{"sync_fails", disk_fault::sync_fails},
                      fault_of_disk{"memory_is_out", disk_fault::memory_is_out},
                      fault_of_disk{"power_goes", disk_fault::power_goes}),
    [](const auto& tested) { return tested.param.name; });

// Each step of a schema upgrade is atomic with the stored schema version.
TEST(disk_upgrade, the_power_may_go_at_any_call) {
    auto& unsafe = unsafe_disk::install();
    seeded_entropy chance{11};
    // Each step fails if it is repeated.
    const auto later = with_later_steps(
        {"ALTER TABLE accounts ADD COLUMN colour TEXT",
         "CREATE TABLE colours (colour_id INTEGER PRIMARY KEY, text BLOB NOT NULL);"
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)"
         " INSERT INTO colours SELECT i, randomblob(2000) FROM n",
         "DELETE FROM colours WHERE colour_id % 2 = 0;"
         "CREATE INDEX colours_by_text ON colours (text)"});
    const auto upgrade = [&](const std::filesystem::path& dir) {
        sqlite::connection db(dir / "callsign.sqlite3", SQLite::OPEN_READWRITE, 1u << 20);
        db.execute("PRAGMA journal_mode = WAL");
        db.execute("PRAGMA synchronous = FULL");
        sqlite::migrate(db, later);
        EXPECT_EQ(db.integer_of("SELECT count(*) FROM colours INDEXED BY colours_by_text"), 15);
        EXPECT_EQ(db.integer_of("SELECT count(*) FROM pragma_integrity_check"
                                " WHERE integrity_check = 'ok'"),
                  1);
    };
    // Downgrades to the schema that this program's check can read.
    const auto take_back = [](const std::filesystem::path& dir) {
        sqlite::connection db(dir / "callsign.sqlite3", SQLite::OPEN_READWRITE, 1u << 20);
        db.execute("DROP TABLE colours");
        db.execute("ALTER TABLE accounts DROP COLUMN colour");
        const auto own = std::to_string(sqlite::migrations().size());
        db.execute(("PRAGMA user_version = " + own).c_str());
    };
    bool struck = true;
    std::int64_t calls = 1;
    for (const std::int64_t stride = stride_or(CALLSIGN_UPGRADE_STRIDE); struck; calls += stride) {
        temp_dir old, next;
        open_sqlite({.data_dir = old.path()});
        unsafe.arm(disk_fault::power_goes, calls, 1, static_cast<std::uint64_t>(calls));
        try {
            upgrade(old.path());
        } catch (const std::runtime_error&) {
            EXPECT_TRUE(unsafe.is_off());
        }
        struck = unsafe.is_off();
        unsafe.strike(old.path(), next.path(), chance);
        unsafe.heal();
        ASSERT_NO_THROW(upgrade(next.path())) << "call " << calls;
        take_back(next.path());
        const auto report = report_on(next.path());
        ASSERT_TRUE(report.ok()) << "call " << calls << ": " << report.faults.front().text;
        unsafe.forget(next.path());
    }
    EXPECT_GT(calls, 30);
}

}  // namespace
}  // namespace callsign::testing
