// Goal: all replicas of a managed account converge to the server's tasks. Every task has its
// number, its key and the seq of its last change; a stale version is rebased as its client would
// rebase it; no slot waits for a task that a device has added; no device is ever rejected; a
// follower receives each change once, and converges too. All this holds for any concurrent edits of
// the same few tasks by devices (of the key attribute, too) and REST, and for crashes at any point.
//
// Method: a universe so small that everything collides. Model clients (support/model_client.hpp)
// edit and sync in steps against the real rules on a real store, one transaction per step; between
// these steps REST creates, leaves creations unfinished, edits and purges, the reaper sweeps, and
// followers (account_followers.hpp) read changes from their cursors. Some devices send several
// segments in a row, each behind the one before, and so are on fork versions for a while. A crash
// drops a transaction before its commit or loses the response after it; on SQLite the store is then
// reopened. At the end each device syncs alone, twice. Seeds generate whole accounts.

#include "property/account_followers.hpp"
#include "support/audit.hpp"
#include "support/check.hpp"
#include "support/collect.hpp"
#include "support/forwarding_store.hpp"
#include "support/setting.hpp"
#include "support/tasks_of.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/store/memory.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <ranges>

namespace callsign::testing {
namespace {

using kind = operation_kind;

// ---- accounts generated from a seed ----

struct game {
    int devices = 3;
    int tasks = 3;  // more tasks: stale versions rarely conflict
    int moves = 250;
    int crashes_in_hundred = 0;
    bool rest = true;
    bool forgetful = false;                          // history expires early
    bool scrubs = false;                             // purged tasks are removed from the chain
    std::size_t batch_max = model_client::no_limit;  // stock clients send at most 1 MB at once
    std::size_t piece_max = model_client::no_limit;
    std::size_t work_max = step_work_max;  // 1: the server takes one operation at a time
    // 0: a command reads no missed versions itself; all are read before it.
    std::size_t read_max = add_version::read_bytes_max;
};

class player {
  public:
    player(unsigned seed, const game& rules, managed_account::opener open)
        : chance_(seed),
          rules_(rules),
          account_(std::move(open)),
          followers_(account_, seed, rules.forgetful) {
        for (int i = 0; i < rules.devices; ++i) add_client(i);
    }

    void play() {
        for (int i = 0; i < rules_.moves; ++i) move();
        for (auto& client : clients_) {
            while (client->syncing()) client->step();
        }
        account_.be_quiet();
        for (int round = 0; round < 2; ++round) {
            for (auto& client : clients_) {
                // A device that is asked to resync does so.
                if (!client->sync() && !client->sync()) wrong_.insert("a device is rejected twice");
            }
        }
        if (!rules_.scrubs) return;
        followers_.begin_scrub();
        account_.scrub();
        // A device added at the end.
        add_client(rules_.devices);
        clients_.back()->sync();
    }

    // Returns the violations: devices that differ from the server, and unsound data.
    std::vector<std::string> faults() {
        auto found = audit(account_.data());
        const auto tx = account_.data().begin_read();
        const task_map tasks = collect(*tx, account_.id(), std::size_t{1} << 20).tasks();
        for (const auto& client : clients_) {
            if (client->tasks() != tasks) found.push_back("a device differs from the server");
            if (client->conflicts() != 0) found.push_back("a device got a conflict");
        }
        for (const auto& [id, all] : tasks) {
            const auto row = tasks::find(*tx, account_.id(), id);
            const auto key = all.find("key");
            if (key == all.end() || key->second != key_of(*row->numbered)) {
                found.push_back("wrong key of " + to_string(id));
            }
        }
        find_stale(*tx, found);
        found.insert(found.end(), wrong_.begin(), wrong_.end());
        for (auto& fault : followers_.faults()) found.push_back(fault);
        if (rules_.scrubs) find_unscrubbed(*tx, found);
        if (followers_.told().tasks() != tasks) found.push_back("the chain differs from the tasks");
        if (read_wrong_) found.push_back("a device got a state that differs from its version's");
        for (const auto& link : links_) {
            found.insert(found.end(), link->faults.begin(), link->faults.end());
        }
        return found;
    }

    int expiries() const { return followers_.expiries(); }

    int late() const {
        int all = 0;
        for (const auto& link : links_) all += link->late;
        return all;
    }
    int reads() const {
        int all = 0;
        for (const auto& link : links_) all += link->reads;
        return all;
    }

  private:
    void add_client(int n) {
        links_.push_back(std::make_unique<device_link>(
            account_, account_.add_device(n), rules_.work_max, rules_.batch_max, rules_.read_max));
        clients_.push_back(
            std::make_unique<model_client>(*links_.back(), rules_.batch_max, rules_.piece_max));
    }

    // Stale versions and If-Match depend on the last change of each task.
    void find_stale(read_tx& tx, std::vector<std::string>& found) {
        std::map<uuid, std::int64_t> last;
        for (const version& v : versions::some(tx, account_.id(), 0, all_rows)) {
            for (const operation& o : v.operations) last[o.uuid] = v.seq;
        }
        for (const task& t : tasks_of(tx, account_.id())) {
            if (t.last_seq != last[t.uuid]) {
                found.push_back("wrong last change of " + to_string(t.uuid));
            }
        }
    }

    // Content of a purged task must not remain on the chain before its last Delete, nor in history.
    void find_unscrubbed(read_tx& tx, std::vector<std::string>& found) {
        std::map<uuid, std::int64_t> deleted;
        auto chain = versions::some(tx, account_.id(), 0, all_rows);
        for (const version& v : chain | std::views::reverse) {
            for (const operation& o : v.operations | std::views::reverse) {
                if (o.kind == kind::remove) deleted.emplace(o.uuid, v.seq);
                if (o.kind != kind::update || !deleted.contains(o.uuid)) continue;
                if (!is_scrubbed(o)) found.push_back("the chain has content of a purged task");
            }
        }
        for (const auto& [id, through] : deleted) {
            for (std::int64_t seq = 1; seq < through; ++seq) {
                const auto stood = history::find_as_of(tx, account_.id(), id, seq);
                if (stood && !stood->purged)
                    found.push_back("history has a former state of a purged task");
            }
        }
    }

    int below(int limit) { return static_cast<int>(chance_() % static_cast<unsigned>(limit)); }

    // Followers that are behind, or reading, miss the removed content.
    void scrub() {
        followers_.begin_scrub();
        reading_.reset();
        arm();
        account_.scrub();
        disarm();
    }

    operation draw() {
        const uuid id = task_uuid(below(rules_.tasks));
        const int what = below(6);
        if (what == 0) return {kind::create, id, {}, {}, {}};
        if (what == 1) return {kind::remove, id, {}, {}, {}};
        static constexpr const char* names[] = {"p", "q", "key", "project"};
        std::optional<std::string> value;
        if (const int drawn = below(4); drawn != 0) {
            static constexpr const char* values[] = {"one", "two", "SYN-1"};
            value = values[drawn - 1];
        }
        // Clock skew in both directions.
        return {kind::update, id, names[below(4)], value,
                account_.now() + milliseconds{below(60) - 30}};
    }

    // If concurrent changes cancel a whole batch, a stock client ends its sync although more
    // batches remain; no server can detect that. So each batch begins with an operation that cannot
    // collide.
    void edit(model_client& client) {
        const operation o = draw();
        if (!is_effective(o, client.tasks().contains(o.uuid))) return;
        if (rules_.batch_max != model_client::no_limit &&
            client.unsynced() % rules_.batch_max == 0) {
            uuid its_own = task_uuid(100 + keys_ % 100);
            its_own.data[1] = static_cast<std::uint8_t>(keys_++ / 100);
            client.edit({kind::create, its_own, {}, {}, {}});
        }
        client.edit(o);
    }

    void arm() {
        if (below(100) >= rules_.crashes_in_hundred) return;
        account_.arm(below(2) == 0 ? managed_account::crash::before_commit
                                   : managed_account::crash::after_commit);
        crash_ = true;
    }

    void use_rest() {
        arm();
        const int what = below(10);
        if (what < 4) {
            create(what < 2);
        } else if (what < 5) {
            const auto waiting = slots::some(*account_.data().begin_read(), slot_id{}, 1'000'000,
                                             slot_state::pending, account_.id());
            if (!waiting.empty()) account_.run(fulfil{waiting.front().id, "", {{"p", "rest"}}});
        } else if (what < 9) {
            edit();
        } else {
            account_.run(reconcile_pending{slot_id{}, 100, milliseconds{40}, {}});
        }
        disarm();
    }

    // The edit's expected effect on the current task: none if the task does not exist, or has
    // changed since it was read.
    void edit() {
        edit_task c;
        c.account = account_.id();
        const uuid id = task_uuid(below(rules_.tasks));
        c.task = id;
        c.author = token_id{1};  // distinguishes REST's edits from the server's own
        draw_edit(c);
        const task_map before = followers_.told().tasks();
        const std::int64_t last = followers_.told().last_seq_of(id);
        if (below(3) == 0)
            c.if_match = {{account_.tag(std::max<std::int64_t>(last - below(2), 0))}};
        const auto answer = account_.run(c);
        if (!answer) return;
        const bool is_expected = !c.if_match || c.if_match->front().seq == last;
        const task_map& after = followers_.told().tasks();
        const auto wrong = [&](const char* what) { wrong_.insert(std::string("REST: ") + what); };
        if (const auto* const done = std::get_if<edit_task::edited>(&*answer)) {
            if (!before.contains(id) || !is_expected)
                wrong("an edit was applied that had to be rejected");
            if (done->now.purged == after.contains(id)) wrong("a purged task exists");
            if (!c.purge && done->now.attributes != after.at(id))
                wrong("the response differs from the task");
            if (done->now.last_seq != followers_.told().last_seq_of(id)) wrong("another ETag");
            for (const auto& [name, value] : c.changes) {
                if (!c.purge && value.value_or("") != value_of(after.at(id), name)) {
                    wrong("an edit has no effect");
                }
            }
        } else {
            if (after != before) wrong("a rejected edit was applied");
            const bool is_rejection =
                before.contains(id)
                    ? std::holds_alternative<edit_task::precondition_failed>(*answer)
                    : std::holds_alternative<ref_fault>(*answer);
            if (!is_rejection || (before.contains(id) && is_expected))
                wrong("a valid edit was rejected");
        }
    }

    void draw_edit(edit_task& c) {
        switch (below(6)) {
        case 0: c.purge = true; break;
        case 1: c.changes = {{"status", "deleted"}}; break;
        case 2: c.changes = {{"project", "one"}, {"q", "rest" + std::to_string(below(3))}}; break;
        case 3: c.action = {{task_action::kind::complete}}; break;
        case 4: c.action = {{task_action::kind::reopen}}; break;
        default: c.changes = {{"q", "rest" + std::to_string(below(3))}}; break;
        }
    }

    void create(bool finish) {
        reserve c{account_.id(), "key" + std::to_string(++keys_), {}, {}, ""};
        if (below(2) == 0) c.uuid = task_uuid(below(rules_.tasks));
        const auto answer = account_.run(c);
        const auto* const made = answer ? std::get_if<reserve::reserved>(&*answer) : nullptr;
        if (made && finish) account_.run(fulfil{made->slot, "", {{"p", "rest"}}});
    }

    void disarm() {
        account_.arm(managed_account::crash::none);
        crash_ = false;
    }

    // All tasks, read in steps while other changes continue, must equal the state at the version
    // they name.
    void read_on() {
        if (!reading_) {
            if (below(20) == 0) reading_.emplace(account_.id(), std::size_t{1} << 20);
            return;
        }
        const auto tx = account_.data().begin_read();
        if (collect_step(*reading_, *tx, 1)) return;
        auto all = std::move(*reading_);
        reading_.reset();
        task_map said;
        for (const version& v : versions::some(*tx, account_.id(), 0, all_rows)) {
            for (const operation& o : v.operations) carry_out(said, o);
            if (v.id == all.version()) break;
        }
        if (all.tasks() != said) read_wrong_ = true;
    }

    void move() {
        followers_.move();
        read_on();
        if (rules_.scrubs && below(12) == 0) return scrub();
        if (rules_.rest && below(5) == 0) return use_rest();
        model_client& client = *clients_[static_cast<std::size_t>(below(rules_.devices))];
        if (client.syncing()) {
            arm();
            client.step(crash_);
            disarm();
        } else if (below(3) == 0) {
            client.begin_sync();
        } else {
            edit(client);
        }
    }

    std::mt19937 chance_;
    game rules_;
    managed_account account_;
    account_followers followers_;
    std::set<std::string> wrong_;
    std::vector<std::unique_ptr<device_link>> links_;
    std::vector<std::unique_ptr<model_client>> clients_;
    int keys_ = 0;
    bool crash_ = false;
    std::optional<collected_tasks> reading_;
    bool read_wrong_ = false;
};

// Counts events, so that tests can require that they occurred.
struct events {
    int late = 0;
    int reads = 0;
    int expiries = 0;
};

void note(const player& p, events& seen) {
    seen.late += p.late();
    seen.reads += p.reads();
    seen.expiries += p.expiries();
}

// The memory store survives the crashes.
void play_in_memory(unsigned seed, const game& rules, events& seen) {
    const auto memory = make_memory_store();
    player p(seed, rules, [&] { return std::make_unique<forwarding_store>(*memory); });
    p.play();
    ASSERT_EQ(p.faults(), std::vector<std::string>{}) << "seed " << seed;
    note(p, seen);
}

void play_on_sqlite(unsigned seed, const game& rules, events& seen) {
    const temp_dir dir;
    player p(seed, rules, [&] { return open_sqlite({.data_dir = dir.path()}); });
    p.play();
    ASSERT_EQ(p.faults(), std::vector<std::string>{}) << "seed " << seed;
    note(p, seen);
    const auto report = report_on(dir.path());
    for (const auto& fault : report.faults) ADD_FAILURE() << fault.invariant << ": " << fault.text;
}

using game_player = void (*)(unsigned, const game&, events&);

void play_all(game_player play, unsigned seeds, const game& rules) {
    events seen;
    for (unsigned seed = std::getenv("SEED") ? std::stoul(std::getenv("SEED")) : 1; seed <= seeds;
         ++seed) {
        play(seed, rules, seen);
        if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(seen.late, static_cast<int>(seeds) / 2);
    EXPECT_EQ(seen.reads > 0, rules.read_max < add_version::read_bytes_max);
    EXPECT_EQ(seen.expiries > 0, rules.forgetful);
}

const auto seeds = static_cast<unsigned>(times(CALLSIGN_TRANSFORM_SEEDS) / 4);
// Too few seeds would produce hardly any stale version.
const unsigned seeds_on_sqlite = std::max(seeds / 50, 20u);

TEST(managed_account, devices_alone_agree_with_the_server) {
    play_all(play_in_memory, seeds, {.rest = false});
}

TEST(managed_account, devices_and_rest_agree) {
    play_all(play_in_memory, seeds, {});
}

TEST(managed_account, devices_and_rest_agree_over_crashes) {
    play_all(play_in_memory, seeds, {.crashes_in_hundred = 15});
}

TEST(managed_account, devices_that_seldom_meet_agree) {
    play_all(play_in_memory, seeds / 2, {.tasks = 40, .moves = 400, .crashes_in_hundred = 5});
}

TEST(managed_account, devices_that_send_in_batches_agree) {
    play_all(play_in_memory, seeds, {.batch_max = 3});
}

TEST(managed_account, devices_that_send_in_batches_agree_over_crashes) {
    play_all(play_in_memory, seeds, {.crashes_in_hundred = 15, .batch_max = 3});
}

TEST(managed_account, devices_that_send_in_pieces_agree) {
    play_all(play_in_memory, seeds, {.piece_max = 1});
}

TEST(managed_account, devices_that_send_in_pieces_agree_over_crashes) {
    play_all(play_in_memory, seeds, {.crashes_in_hundred = 15, .piece_max = 2});
}

TEST(managed_account, devices_agree_whose_segments_are_taken_in_steps) {
    play_all(play_in_memory, seeds, {.work_max = 1});
}

TEST(managed_account, devices_agree_whose_segments_are_taken_in_steps_over_crashes) {
    play_all(play_in_memory, seeds / 2, {.tasks = 6, .crashes_in_hundred = 15, .work_max = 2'000});
}

TEST(managed_account, devices_agree_for_whom_what_they_missed_is_read_before) {
    play_all(play_in_memory, seeds / 2, {.work_max = 1, .read_max = 0});
    play_all(play_in_memory, seeds / 2,
             {.crashes_in_hundred = 15, .batch_max = 3, .piece_max = 2, .read_max = 3'000});
}

TEST(managed_account, devices_agree_for_whom_it_is_read_though_tasks_leave_the_chain) {
    play_all(play_in_memory, seeds / 2,
             {.tasks = 5, .crashes_in_hundred = 5, .scrubs = true, .batch_max = 4, .read_max = 0});
}

TEST(managed_account, a_crowd_agrees) {
    play_all(play_in_memory, seeds / 4, {.devices = 8, .moves = 700, .crashes_in_hundred = 5});
}

TEST(managed_account, followers_agree_though_history_expires) {
    play_all(play_in_memory, seeds / 2, {.crashes_in_hundred = 5, .forgetful = true});
}

TEST(managed_account, followers_agree_though_history_expires_and_segments_are_long) {
    play_all(play_in_memory, seeds / 4, {.tasks = 12, .moves = 400, .forgetful = true});
}

TEST(managed_account, followers_agree_though_history_expires_on_sqlite) {
    play_all(play_on_sqlite, seeds_on_sqlite, {.crashes_in_hundred = 5, .forgetful = true});
}

TEST(managed_account, devices_agree_though_purged_tasks_leave_the_chain) {
    play_all(play_in_memory, seeds / 2, {.crashes_in_hundred = 5, .scrubs = true});
}

TEST(managed_account, devices_on_fork_versions_agree_though_purged_tasks_leave_the_chain) {
    play_all(play_in_memory, seeds / 2,
             {.tasks = 5, .scrubs = true, .piece_max = 2, .work_max = 1});
}

TEST(managed_account, devices_agree_though_purged_tasks_leave_the_chain_on_sqlite) {
    play_all(play_on_sqlite, std::max(seeds_on_sqlite / 4, 1u),
             {.crashes_in_hundred = 5, .scrubs = true});
}

TEST(managed_account, devices_and_rest_agree_over_crashes_on_sqlite) {
    play_all(play_on_sqlite, seeds_on_sqlite, {.crashes_in_hundred = 10});
}

TEST(managed_account, devices_agree_whose_segments_are_taken_in_steps_on_sqlite) {
    play_all(play_on_sqlite, seeds_on_sqlite,
             {.crashes_in_hundred = 10, .piece_max = 3, .work_max = 1});
}

}  // namespace
}  // namespace callsign::testing
