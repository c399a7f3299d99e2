// Goal: on a managed account everyone ends with the same tasks, and they are the server's; every
// task has its number and carries its key, and knows its last change; what is late becomes what its
// client would have made of it; no slot waits for a task that a device has brought; nobody is ever
// refused. Whatever devices do to the same few tasks at once (the key attribute included), whatever
// REST does in between, and wherever the server dies.
//
// Method: a universe small enough that everything collides. Model clients
// (support/model_client.hpp) edit and sync in steps against the real rules on a real store, each
// step one transaction; between them REST creates, leaves creations unfinished, edits and purges,
// and the reaper sweeps. Some devices send in pieces, each behind the one before, and so stand
// beside the chain for a while. A crash drops a transaction before its commit or loses the answer
// after it; on SQLite the store is opened again. Then everyone syncs alone, twice. Whole accounts
// are played from a seed.

#include "support/audit.hpp"
#include "support/check.hpp"
#include "support/collect.hpp"
#include "support/counted_ids.hpp"
#include "support/model_client.hpp"
#include "support/tasks_of.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/memory.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace callsign::testing {
namespace {

using kind = operation_kind;

constexpr time_point t0{milliseconds{1'700'000'000'000}};

constexpr std::int64_t all_rows = std::numeric_limits<std::int64_t>::max();

uuid task_uuid(int n) {
    return {{static_cast<std::uint8_t>(n + 1)}};
}

// ---- the account, as its devices and REST see it ----

class managed_account {
  public:
    using opener = std::function<std::unique_ptr<store>()>;

    explicit managed_account(opener open) : open_(std::move(open)), store_(open_()) {
        create_account made{"board", "SYN", "t", {}, {}};
        run(made);
        account_ = store_->begin_read()->find_account("board")->id;
    }

    uuid add_device(int n) {
        const uuid client{{0xC0, static_cast<std::uint8_t>(n)}};
        const auto tx = store_->begin_write();
        tx->put_device({.client_id = client,
                        .account = account_,
                        .name = "d" + std::to_string(n),
                        .sealed_key = "k",
                        .created_at = now_});
        tx->commit();
        return client;
    }

    enum class crash { none, before_commit, after_commit };
    // Of the next transaction.
    void arm(crash where) { armed_ = where; }

    template <class Command>
    std::optional<typename Command::answer> run(const Command& c) {
        now_ += milliseconds{1};
        const crash where = std::exchange(armed_, crash::none);
        {
            const auto tx = store_->begin_write();
            auto answer = rules::apply(*tx, c, rules::moment{now_, ids_});
            if (where != crash::before_commit) {
                tx->commit();
                if (where == crash::none) return answer;
            }
        }
        store_.reset();
        store_ = open_();
        return std::nullopt;
    }

    store& data() { return *store_; }
    account_id id() const { return account_; }
    time_point now() const { return now_; }

  private:
    opener open_;
    std::unique_ptr<store> store_;
    counted_ids ids_;
    time_point now_ = t0;
    account_id account_;
    crash armed_ = crash::none;
};

// One device's way to it.
class device_link final : public model_server {
  public:
    // `work_max`: what one command takes of a segment.
    device_link(managed_account& account, uuid client, std::size_t work_max)
        : account_(account), client_(client), work_max_(work_max) {}

    std::optional<child> child_of(const uuid& parent) override {
        const auto tx = account_.data().begin_read();
        auto found = rules::read(*tx, find_child{account_.id(), parent});
        EXPECT_FALSE(std::holds_alternative<unknown_version>(found));
        auto* const next = std::get_if<find_child::next_version>(&found);
        if (!next) return std::nullopt;
        return child{next->id, std::move(next->operations)};
    }

    // As the server's handler does it: one command after the other, until all is taken.
    std::variant<accepted, expected> add_version(const uuid& parent,
                                                 std::vector<operation> all) override {
        callsign::add_version c{client_, parent, std::move(all), account_.id(), 0};
        c.work_max = work_max_;
        for (;;) {
            const auto seq = account_.data().begin_read()->head_of(account_.id()).seq;
            const auto answer = account_.run(c);
            find_forgotten();
            if (!answer)
                return accepted{};  // the server died; the caller knows that it is not told
            const auto* const added = std::get_if<callsign::add_version::added>(&*answer);
            EXPECT_TRUE(added) << "a device was refused";
            if (!added) return expected{};
            late += added->stale ? 1 : 0;
            const auto rest = c.operations.begin() + static_cast<std::ptrdiff_t>(added->taken);
            judge(c.parent, {c.operations.begin(), rest}, seq);
            c.operations.erase(c.operations.begin(), rest);
            if (c.operations.empty()) return accepted{added->version};
            EXPECT_GT(added->taken, 0u);
            c.parent = added->version;
            c.continues = true;
            ++steps;
        }
    }

    int late = 0;
    int steps = 0;  // beyond the first of a segment
    std::set<std::string> faults;

  private:
    // What was appended behind `seq` is what the client's own loop makes of it, had it pulled
    // first; tasks that come and go within it are nobody's, unless they have come from somebody
    // else meanwhile. Of a version beside the chain only the server knows the way.
    void judge(const uuid& parent, std::vector<operation> sent, std::int64_t seq) {
        const auto tx = account_.data().begin_read();
        const auto left_at = parent.is_nil() ? 0 : tx->find_version_seq(account_.id(), parent);
        if (!left_at) return;
        std::vector<operation> missed;
        for (const version& v : tx->versions(account_.id(), *left_at, seq - *left_at)) {
            missed.insert(missed.end(), v.operations.begin(), v.operations.end());
        }
        std::map<uuid, std::pair<kind, kind>> ends;  // of what is sent of a task
        for (const operation& o : sent) ends.try_emplace(o.uuid, o.kind, o.kind);
        for (const operation& o : sent) ends[o.uuid].second = o.kind;
        for (const operation& o : missed) ends.erase(o.uuid);
        std::erase_if(sent, [&](const operation& o) {
            const auto found = ends.find(o.uuid);
            return found != ends.end() && found->second == std::pair(kind::create, kind::remove);
        });
        pull(missed, sent);
        if (tx->versions(account_.id(), seq, 1)[0].operations != sent) {
            faults.insert("a late version became another than its client makes of it");
        }
    }

    // A slot that waits for a task is committed when a device brings it. Looked at at once: the
    // reaper finds such a task too, in time.
    void find_forgotten() {
        const auto tx = account_.data().begin_read();
        for (const slot& s : tx->slots(slot_id{}, all_rows, slot_state::pending, account_.id())) {
            if (!tx->find_task(account_.id(), s.uuid)) continue;
            const auto all = tx->slots(slot_id{}, all_rows, {}, account_.id());
            const bool made_by_rest = std::any_of(all.begin(), all.end(), [&](const slot& other) {
                return other.task && other.created && other.uuid == s.uuid;
            });
            if (!made_by_rest) faults.insert("the slot of " + s.key + " waits for what is there");
        }
    }

    managed_account& account_;
    uuid client_;
    std::size_t work_max_;
};

// ---- accounts played from a seed ----

struct game {
    int devices = 3;
    int tasks = 3;  // more: most that is late meets nothing of others'
    int moves = 250;
    int crashes_in_hundred = 0;
    bool rest = true;
    std::size_t piece_max = model_client::no_limit;
    std::size_t work_max = step_work_max;  // 1: the server takes one operation at a time
};

class player {
  public:
    player(unsigned seed, const game& rules, managed_account::opener open)
        : chance_(seed), rules_(rules), account_(std::move(open)) {
        for (int i = 0; i < rules.devices; ++i) {
            links_.push_back(
                std::make_unique<device_link>(account_, account_.add_device(i), rules.work_max));
            clients_.push_back(std::make_unique<model_client>(
                *links_.back(), model_client::no_limit, rules.piece_max));
        }
    }

    void play() {
        for (int i = 0; i < rules_.moves; ++i) move();
        for (auto& client : clients_) {
            while (client->syncing()) client->step();
        }
        for (int round = 0; round < 2; ++round) {
            for (auto& client : clients_) client->sync();
        }
    }

    // Empty: they all have what the server has, and that is sound.
    std::vector<std::string> faults() {
        auto found = audit(account_.data());
        const auto tx = account_.data().begin_read();
        const task_map tasks = collect(*tx, account_.id(), std::size_t{1} << 20).tasks();
        for (const auto& client : clients_) {
            if (client->tasks() != tasks) found.push_back("a device differs from the server");
            if (client->conflicts() != 0) found.push_back("a device was told of a conflict");
        }
        for (const auto& [id, all] : tasks) {
            const auto row = tx->find_task(account_.id(), id);
            const auto key = all.find("key");
            if (key == all.end() || key->second != key_of(*row->numbered)) {
                found.push_back("the key of " + to_string(id));
            }
        }
        find_stale(*tx, found);
        if (read_wrong_) found.push_back("a device was given another state than the version's");
        for (const auto& link : links_) {
            found.insert(found.end(), link->faults.begin(), link->faults.end());
        }
        return found;
    }

    int late() const {
        int all = 0;
        for (const auto& link : links_) all += link->late;
        return all;
    }

  private:
    // What is late is judged by the last change of its tasks, and REST's If-Match too.
    void find_stale(read_tx& tx, std::vector<std::string>& found) {
        std::map<uuid, std::int64_t> last;
        for (const version& v : tx.versions(account_.id(), 0, all_rows)) {
            for (const operation& o : v.operations) last[o.uuid] = v.seq;
        }
        for (const task& t : tasks_of(tx, account_.id())) {
            if (t.last_seq != last[t.uuid]) {
                found.push_back("the last change of " + to_string(t.uuid));
            }
        }
    }

    int below(int limit) { return static_cast<int>(chance_() % static_cast<unsigned>(limit)); }

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
        // Clocks go wrong both ways.
        return {kind::update, id, names[below(4)], value,
                account_.now() + milliseconds{below(60) - 30}};
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
            const auto waiting = account_.data().begin_read()->slots(
                slot_id{}, 1'000'000, slot_state::pending, account_.id());
            if (!waiting.empty()) account_.run(fulfil{waiting.front().id, "", {{"p", "rest"}}});
        } else if (what < 9) {
            edit_task c;
            c.account = account_.id();
            c.task = task_uuid(below(rules_.tasks));
            c.purge = below(5) == 0;
            if (!c.purge) c.changes = {{"q", "rest" + std::to_string(below(3))}};
            account_.run(c);
        } else {
            account_.run(reconcile_pending{slot_id{}, 100, milliseconds{40}, {}});
        }
        disarm();
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

    // Everything, read step by step while the game goes on, is what it was at the version it names.
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
        for (const version& v : tx->versions(account_.id(), 0, all_rows)) {
            for (const operation& o : v.operations) carry_out(said, o);
            if (v.id == all.version()) break;
        }
        if (all.tasks() != said) read_wrong_ = true;
    }

    void move() {
        read_on();
        if (rules_.rest && below(5) == 0) return use_rest();
        model_client& client = *clients_[static_cast<std::size_t>(below(rules_.devices))];
        if (client.syncing()) {
            arm();
            client.step(crash_);
            disarm();
        } else if (below(3) == 0) {
            client.begin_sync();
        } else {
            const operation o = draw();
            if (is_effective(o, client.tasks().contains(o.uuid))) client.edit(o);
        }
    }

    std::mt19937 chance_;
    game rules_;
    managed_account account_;
    std::vector<std::unique_ptr<device_link>> links_;
    std::vector<std::unique_ptr<model_client>> clients_;
    int keys_ = 0;
    bool crash_ = false;
    std::optional<collected_tasks> reading_;
    bool read_wrong_ = false;
};

// A memory store that outlives a crash.
class kept_store final : public store {
  public:
    explicit kept_store(store& within) : within_(within) {}
    std::unique_ptr<write_tx> begin_write(write_batch batch) override {
        return within_.begin_write(batch);
    }
    std::unique_ptr<read_tx> begin_read() override { return within_.begin_read(); }
    time_point last_moment() override { return within_.last_moment(); }
    slot_counts counts() override { return within_.counts(); }
    void maintain(bool idle) override { within_.maintain(idle); }

  private:
    store& within_;
};

void play_in_memory(unsigned seed, const game& rules, int& late) {
    const auto memory = make_memory_store();
    player p(seed, rules, [&] { return std::make_unique<kept_store>(*memory); });
    p.play();
    late += p.late();
    ASSERT_EQ(p.faults(), std::vector<std::string>{}) << "seed " << seed;
}

void play_on_sqlite(unsigned seed, const game& rules, int& late) {
    const temp_dir dir;
    player p(seed, rules, [&] { return open_sqlite({.data_dir = dir.path()}); });
    p.play();
    late += p.late();
    ASSERT_EQ(p.faults(), std::vector<std::string>{}) << "seed " << seed;
    const auto report = report_on(dir.path());
    for (const auto& fault : report.faults) ADD_FAILURE() << fault.invariant << ": " << fault.text;
}

using game_player = void (*)(unsigned, const game&, int&);

void play_all(game_player play, unsigned seeds, const game& rules) {
    int late = 0;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        play(seed, rules, late);
        if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(late, static_cast<int>(seeds) / 2);
}

constexpr unsigned seeds = CALLSIGN_TRANSFORM_SEEDS / 4;
// A few games alone may have hardly a stale version.
constexpr unsigned seeds_on_sqlite = std::max(seeds / 50, 20u);

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

TEST(managed_account, a_crowd_agrees) {
    play_all(play_in_memory, seeds / 4, {.devices = 8, .moves = 700, .crashes_in_hundred = 5});
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
