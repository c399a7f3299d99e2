// Goal: data from the disk is untrusted input. Whichever bytes of the file are overwritten, no read
// or write ends the process, no read returns other data than was written, and `callsign check`
// reports the corruption unless all readable data is unchanged.
//
// Method: a small and a large closed store with rows in every table. A seed chooses a page of each
// kind in turn, an offset in it, and 1 to 4096 bytes to overwrite. Then `check` runs, and all
// queries are compared with the responses of the intact store. A second round recomputes the page
// checksums, as if the bytes had been written regularly; there the process must not end.

#include "store/sqlite/log/page_checksums.hpp"
#include "support/check.hpp"
#include "support/counted_ids.hpp"
#include "support/setting.hpp"
#include "support/sync_client.hpp"
#include "support/tasks_of.hpp"
#include "support/temp_dir.hpp"
#include "support/test_server.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/sealed.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>

namespace callsign::testing {
namespace {

constexpr std::size_t page_bytes = 4096;

sqlite_options options_at(const std::filesystem::path& dir) {
    sqlite_options options;
    options.data_dir = dir;
    options.recent_keys_max = 32;
    options.buffered_entries_max = 32;
    options.readers = 1;
    return options;
}

const uuid sealed_client = *parse_uuid(some_id(1));

// Fills every table. `n`: tasks of each account.
void fill(const std::filesystem::path& dir, int n) {
    const auto store = open_sqlite(options_at(dir));
    counted_ids ids;
    time_point now{milliseconds{1'700'000'000'000}};
    auto tx = store->begin_write();
    const auto run = [&](const auto& c) {
        return rules::apply(*tx, c, rules::moment{now += milliseconds{1}, ids, "key"});
    };
    run(create_token{std::nullopt, "operator", token_scope::admin, sha256("operator")});
    for (const std::string name : {"one", "two"}) {
        const auto id = std::get<account>(run(create_account{name, "SYN", "t", sha256(name)})).id;
        run(create_series{id, "OPS", "ops"});
        run(create_device{id, "laptop", ids.next(now), "a sealed key"});
        for (int i = 0; i < n; ++i) {
            const std::string key = name + std::to_string(i);
            const auto slot = std::get<reserve::reserved>(
                                  run(reserve{id, key, sha256(key), {}, i % 3 == 0 ? "OPS" : ""}))
                                  .slot;
            if (i % 9 == 8) continue;
            // Some descriptions have overflow pages.
            run(fulfil{slot,
                       i % 3 == 0 ? "OPS" : "",
                       {{"description", std::string(i % 17 == 0 ? 9000 : 60, 'd') + key}}});
            if (i % 50 == 0) {
                tx->commit();
                tx.reset();
                store->embedded()->maintain(true);
                tx = store->begin_write();
            }
        }
        if (name == "two") run(reconcile_pending{slot_id{}, 10, std::chrono::hours{-1}, {}});
    }
    run(create_account{"sealed", "TASK", "t", sha256("sealed"), sealed_client});
    uuid last = ids.next(time_point{});
    for (int i = 0; i < 12; ++i) {
        const add_sealed_version next{sealed_client, last, std::string(400 * i, 's'), false, {}};
        last = std::get<add_sealed_version::added>(run(next)).version;
        if (i == 5) run(add_sealed_snapshot{sealed_client, last, std::string(50'000, 'b'), {}});
    }
    tx->commit();
}

// ---- queries ----

std::string say(const task& t) {
    std::string text = to_string(t.uuid) + std::to_string(t.last_seq) + t.current_prefix;
    if (t.numbered) {
        text += t.numbered->prefix + std::to_string(t.numbered->number) +
                std::to_string(t.numbered->seq) + to_rfc3339(t.numbered->created_at);
    }
    for (const auto& [name, value] : t.attributes) text += name + value;
    return text;
}
std::string say(const slot& s) {
    return s.key + to_string(s.uuid) + std::string(to_string(s.state)) +
           std::string(to_string(s.reason)) + to_rfc3339(s.created_at) +
           (s.settled_at ? to_rfc3339(*s.settled_at) : "") + std::to_string(s.attempts) +
           std::string(s.fingerprint.begin(), s.fingerprint.end());
}
std::string say(const version& v) {
    std::string text = to_string(v.id) + to_string(v.parent) + to_rfc3339(v.created_at);
    for (const operation& o : v.operations) {
        text += to_string(o.uuid) + o.property + o.value.value_or("-") + to_precise_rfc3339(o.at);
    }
    return text;
}
std::string say(const account& a) {
    return a.name + std::to_string(a.head.seq) + to_rfc3339(a.created_at) +
           std::string(to_string(a.mode));
}
std::string say(const series& s) {
    return s.prefix + s.project + s.period;
}
std::string say(const token& t) {
    return t.name + std::string(to_string(t.scope)) + to_rfc3339(t.created_at);
}
std::string say(const device& d) {
    return d.name + d.sealed_key + to_string(d.client_id) + to_rfc3339(d.created_at);
}
std::string say(const sealed_version& v) {
    return to_string(v.id) + v.segment + to_rfc3339(v.created_at);
}
std::string say(const sealed_snapshot& s) {
    return to_string(s.mark.version) + s.bytes + to_rfc3339(s.mark.taken_at);
}
template <class Row>
std::string say(const std::optional<Row>& row) {
    return row ? say(*row) : "none";
}
template <class Row>
std::string say(const std::vector<Row>& rows) {
    std::string text;
    for (const Row& row : rows) text += say(row) + "\n";
    return text;
}

using question = std::function<std::string(read_tx&)>;

// Queries for each single row, and lists.
std::vector<question> questions_about(const std::filesystem::path& dir) {
    const auto store = open_sqlite(options_at(dir));
    const auto tx = store->begin_read();
    std::vector<question> all;
    all.push_back([](read_tx& t) { return say(accounts::all(t)); });
    all.push_back([](read_tx& t) { return say(tokens::of(t, std::nullopt)); });
    for (const account& a : accounts::all(*tx)) {
        const auto id = a.id;
        all.push_back([id](read_tx& t) { return say(accounts::find(t, id)); });
        all.push_back([id](read_tx& t) { return say(all_series::of(t, id)); });
        all.push_back([id](read_tx& t) { return say(tokens::of(t, id)); });
        all.push_back([id](read_tx& t) { return say(devices::of(t, id)); });
        all.push_back([id](read_tx& t) { return say(snapshots::find(t, id)); });
        all.push_back([id](read_tx& t) { return say(slots::some(t, slot_id{}, 9999, {}, id)); });
        all.push_back([id](read_tx& t) { return to_string(accounts::head_of(t, id).version); });
        all.push_back([id](read_tx& t) { return say(sealed::find_first(t, id)); });
        for (const task& one : tasks_of(*tx, id)) {
            all.push_back(
                [id, uuid = one.uuid](read_tx& t) { return say(tasks::find(t, id, uuid)); });
        }
        for (const version& v : versions::some(*tx, id, 0, 9999)) {
            all.push_back(
                [id, seq = v.seq](read_tx& t) { return say(versions::some(t, id, seq - 1, 1)); });
            all.push_back([id, seq = v.id](read_tx& t) {
                return std::to_string(versions::find_seq(t, id, seq).value_or(0));
            });
        }
        auto child = sealed::find_first(*tx, id);
        for (; child; child = sealed::find_child(*tx, id, child->id)) {
            all.push_back([id, parent = child->parent](read_tx& t) {
                return say(sealed::find_child(t, id, parent));
            });
        }
        for (const series& s : all_series::of(*tx, id)) {
            for (std::int64_t number = 1; number <= numbers::last(*tx, s.id, ""); number += 3) {
                all.push_back(
                    [s = s.id, number](read_tx& t) { return say(tasks::find(t, s, "", number)); });
            }
        }
    }
    return all;
}

constexpr const char* no_answer = "(no answer)";

std::vector<std::string> answers(const std::filesystem::path& dir,
                                 const std::vector<question>& questions) {
    std::unique_ptr<store> store;
    try {
        store = open_sqlite(options_at(dir));
    } catch (const std::runtime_error&) {
        return std::vector<std::string>(questions.size(), no_answer);
    }
    std::vector<std::string> all;
    for (const question& q : questions) {
        try {
            all.push_back(q(*store->begin_read()));
        } catch (const store_failure&) {
            all.push_back(no_answer);
        }
    }
    return all;
}

// ---- corruption ----

std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Groups pages by kind: the first byte distinguishes B-tree pages; other pages are overflow pages
// or free.
std::map<int, std::vector<std::size_t>> pages_by_kind(const std::string& file) {
    std::map<int, std::vector<std::size_t>> pages;
    for (std::size_t at = 0; at < file.size(); at += page_bytes) {
        const int first = at == 0 ? 1 : static_cast<unsigned char>(file[at]);
        const bool is_tree = first == 2 || first == 5 || first == 10 || first == 13;
        pages[first == 1 || is_tree ? first : 0].push_back(at);
    }
    return pages;
}

std::string overwritten(std::string file, std::uint64_t seed) {
    seeded_entropy chance(seed);
    const auto kinds = pages_by_kind(file);
    auto kind = kinds.begin();
    std::advance(kind, static_cast<std::ptrdiff_t>(seed % kinds.size()));
    const auto& pages = kind->second;
    const std::size_t from = pages[chance.below(pages.size())] + chance.below(page_bytes);
    const std::size_t size = std::size_t{1} << chance.below(13);
    const std::size_t to = std::min(file.size(), from + size / 2 + chance.below(size / 2 + 1) + 1);
    for (std::size_t at = from; at < to; ++at) {
        const char before = file[at];
        while (file[at] == before) file[at] = static_cast<char>(chance.next());
    }
    return file;
}

std::string with_right_sums(std::string file) {
    for (std::size_t at = 0; at < file.size(); at += page_bytes) {
        const auto sum = sqlite::page_sum(file.data() + at, static_cast<std::int64_t>(at));
        std::copy_n(reinterpret_cast<const char*>(&sum), sizeof sum,
                    file.data() + at + page_bytes - sizeof sum);
    }
    return file;
}

// Runs the whole server on the store: creations, retries, edits, deletions, sync, sweeps.
void write_on(const std::filesystem::path& dir) {
    std::unique_ptr<store> disk;
    try {
        disk = open_sqlite(options_at(dir));
    } catch (const std::runtime_error&) {
        return;
    }
    test_server h({.disk = disk.get()});
    const auto accounts = h.run(h.engine().ask(list_accounts{}));
    if (!accounts) return;
    for (const account& a : accounts->rows) {
        for (int i = 0; i < 40; i += 3) {
            const std::string key = a.name + std::to_string(i);
            h.run(h.engine().create({a.id, key, sha256(key), {}, "", {{"description", "d"}}}));
        }
        const auto tasks = h.run(h.engine().ask(read_tasks{a.id}));
        if (!tasks) continue;
        const auto some =
            std::span(tasks->tasks).first(std::min<std::size_t>(tasks->tasks.size(), 20));
        for (const task& t : some) {
            edit_task edit;
            edit.account = a.id;
            edit.task = t.uuid;
            edit.changes = {{"description", "changed"}};
            h.run(h.engine().submit(std::move(edit)));
        }
    }
    const std::string client = to_string(sealed_client);
    const auto conflict = h.call(add_version(client, some_id(9), "x"));
    h.call(add_version(client, std::string(header(conflict, "X-Parent-Version-Id")), "y"));
    h.call(snapshot_of(client));
    h.advance(std::chrono::hours{1});
    h.run(h.reaper().sweep_once());
    disk->embedded()->maintain(true);
}

class damaged_store : public ::testing::TestWithParam<int> {
  protected:
    damaged_store() {
        fill(sound_.path(), GetParam());
        file_ = bytes_of(sound_.path() / "callsign.sqlite3");
        questions_ = questions_about(sound_.path());
        expected_ = answers(sound_.path(), questions_);
    }

    static int rounds() { return static_cast<int>(times(CALLSIGN_DAMAGE_ROUNDS)); }

    void put(const temp_dir& dir, const std::string& bytes) {
        std::ofstream(dir.path() / "callsign.sqlite3", std::ios::binary) << bytes;
    }

    temp_dir sound_;
    std::string file_;
    std::vector<question> questions_;
    std::vector<std::string> expected_;
};

TEST_P(damaged_store, overwritten_bytes_are_found_and_never_believed) {
    ASSERT_GE(pages_by_kind(file_).size(), GetParam() < 100 ? 4u : 6u);
    ASSERT_TRUE(std::ranges::none_of(expected_, [](const auto& a) { return a == no_answer; }));
    int found = 0;
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(rounds()); ++seed) {
        temp_dir dir;
        put(dir, overwritten(file_, seed));
        bool is_ok = false;
        try {
            is_ok = report_on(dir.path()).ok();
        } catch (const std::runtime_error&) {
            // The file is rejected as not a Callsign database.
        }
        found += is_ok ? 0 : 1;
        const auto now = answers(dir.path(), questions_);
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (now[i] == expected_[i]) continue;
            ASSERT_EQ(now[i], no_answer) << "seed " << seed << " was: " << expected_[i];
            ASSERT_FALSE(is_ok) << "seed " << seed << ": check reports nothing";
        }
    }
    EXPECT_GT(found, rounds() / 2);
}

TEST_P(damaged_store, bytes_that_were_written_so_end_nothing) {
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(rounds() / 4); ++seed) {
        SCOPED_TRACE(seed);
        temp_dir dir;
        put(dir, with_right_sums(overwritten(file_, seed)));
        try {
            report_on(dir.path());
        } catch (const std::runtime_error&) {
        }
        answers(dir.path(), questions_);
        write_on(dir.path());
    }
}

INSTANTIATE_TEST_SUITE_P(sizes, damaged_store, ::testing::Values(40, 400));

}  // namespace
}  // namespace callsign::testing
