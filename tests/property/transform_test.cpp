// Goal: concurrent edits converge to one state. Transformation of two lists is symmetric (both ways
// round the square meet). A stock client, which diverges permanently after a 409, never diverges
// with a server that transforms stale segments and returns fork versions, whatever responses are
// lost.
//
// Method: a universe so small that everything collides: two tasks, two properties, two values, four
// instants. rapidcheck generates lists, including operations without effect. Seeds generate whole
// accounts: model clients (support/model_client.hpp) edit and sync in steps, other clients
// interleave, responses are lost, the server writes too. At the end each client syncs alone, twice,
// and all states are compared. A server that responds with 409 verifies the method: with it clients
// must diverge.

#include "support/model_client.hpp"
#include "support/setting.hpp"

#include <callsign/rules/transform.hpp>

#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <rapidcheck/gtest.h>
#include <set>

namespace callsign::testing {
namespace {

using kind = operation_kind;
using operations = std::vector<operation>;

constexpr int tasks_drawn = 2;

// Builds an operation from four small generated numbers.
operation make_operation(int what, int task, int detail, int at) {
    const uuid id{{static_cast<std::uint8_t>(task % tasks_drawn + 1)}};
    if (what % 5 == 0) return {kind::create, id, {}, {}, {}};
    if (what % 5 == 1) return {kind::remove, id, {}, {}, {}};
    std::optional<std::string> value;
    if (detail % 3 != 0) value = detail % 3 == 1 ? "one" : "two";
    return {kind::update, id, detail / 3 % 2 == 0 ? "p" : "q", std::move(value),
            precise_time{std::chrono::nanoseconds{at % 4}}};
}

bool apply_all(task_map& tasks, const operations& all) {
    bool effective = true;
    for (const operation& o : all) effective = carry_out(tasks, o) && effective;
    return effective;
}

operations effective_on(const task_map& tasks, operations all) {
    return rules::effective_only(std::move(all),
                                 [&](const uuid& id) { return tasks.contains(id); });
}

// ---- list against list ----

operations draw_operations() {
    const auto numbers = *rc::gen::container<std::vector<std::uint16_t>>(
        rc::gen::inRange<std::uint16_t>(0, 5 * 2 * 6 * 4));
    operations all;
    for (int n : numbers) all.push_back(make_operation(n % 5, n / 5, n / 10, n / 60));
    return all;
}

RC_GTEST_PROP(transform, of_lists_ends_in_one_state_both_ways_round, ()) {
    task_map common;
    apply_all(common, draw_operations());
    const operations server = effective_on(common, draw_operations());
    const operations local = effective_on(common, draw_operations());
    RC_CLASSIFY(!server.empty() && !local.empty());

    const rules::transformed_lists lists = rules::transform_lists(server, local);
    task_map server_first = common;
    RC_ASSERT(apply_all(server_first, server));
    RC_ASSERT(apply_all(server_first, lists.local));
    task_map local_first = common;
    RC_ASSERT(apply_all(local_first, local));
    RC_ASSERT(apply_all(local_first, lists.server));
    RC_ASSERT(server_first == local_first);
}

// Holds for any lists, including operations without effect: all clients treat a sound chain alike.
RC_GTEST_PROP(transform, of_lists_is_what_the_clients_loop_does, ()) {
    const operations server = draw_operations();
    operations local = draw_operations();
    const rules::transformed_lists lists = rules::transform_lists(server, local);
    RC_ASSERT(lists.server == pull(server, local));
    RC_ASSERT(lists.local == local);
}

// At once, or version by version.
RC_GTEST_PROP(transform, of_lists_may_be_cut_in_pieces, ()) {
    const operations server = draw_operations();
    const operations local = draw_operations();
    const auto cut =
        static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, server.size() + 1));
    auto first = rules::transform_lists({server.begin(), server.begin() + cut}, local);
    auto second =
        rules::transform_lists({server.begin() + cut, server.end()}, std::move(first.local));
    first.server.insert(first.server.end(), second.server.begin(), second.server.end());
    const auto whole = rules::transform_lists(server, local);
    RC_ASSERT(first.server == whole.server);
    RC_ASSERT(second.local == whole.local);
}

// Only operations on the tasks of local operations matter.
RC_GTEST_PROP(transform, of_lists_needs_only_what_can_meet, ()) {
    const operations server = draw_operations();
    const operations local = draw_operations();
    const rules::can_meet met(local);
    operations needed;
    std::vector<std::size_t> places;
    for (std::size_t n = 0; n < server.size(); ++n) {
        if (!met(server[n])) continue;
        needed.push_back(server[n]);
        places.push_back(n);
    }
    RC_CLASSIFY(needed.size() < server.size());
    const auto whole = rules::transform_lists(server, local);
    const auto less = rules::transform_lists(needed, local);
    RC_ASSERT(less.local == whole.local);
    std::vector<std::size_t> dropped;
    for (const std::size_t n : less.dropped) dropped.push_back(places[n]);
    RC_ASSERT(dropped == whole.dropped);
}

RC_GTEST_PROP(presence, before_is_known_from_what_came_after, ()) {
    task_map before;
    apply_all(before, draw_operations());
    const operations since = effective_on(before, draw_operations());
    task_map now = before;
    apply_all(now, since);
    const rules::presence there = rules::there_before(since);
    for (int task = 0; task < tasks_drawn; ++task) {
        const uuid id = make_operation(0, task, 0, 0).uuid;
        const auto found = there.find(id);
        const bool was = found == there.end() ? now.contains(id) : found->second;
        RC_ASSERT(was == before.contains(id));
    }
}

// ---- servers ----

// A single chain of versions, with the nil ID before the first.
class model_chain {
  public:
    struct link {
        uuid id{};
        operations changes;
    };

    const uuid& tip() const { return links_.empty() ? nil_ : links_.back().id; }
    std::size_t size() const noexcept { return links_.size(); }
    const link& at(std::size_t index) const { return links_.at(index); }
    const task_map& tasks() const noexcept { return tasks_; }
    bool sound() const noexcept { return sound_; }

    // The number of versions up to `id`; nullopt: not on the chain.
    std::optional<std::size_t> length_at(const uuid& id) const {
        const auto found = lengths_.find(id);
        return found == lengths_.end() ? std::nullopt : std::optional(found->second);
    }

    uuid new_id() {
        uuid id{};
        for (int i = 0; i < 4; ++i) id.data[15 - i] = static_cast<std::uint8_t>(drawn_ >> (8 * i));
        ++drawn_;
        return id;
    }

    const uuid& append(operations changes) {
        sound_ = apply_all(tasks_, changes) && sound_;
        links_.push_back({new_id(), std::move(changes)});
        lengths_[links_.back().id] = links_.size();
        return links_.back().id;
    }

  private:
    uuid nil_{};
    std::uint32_t drawn_ = 1;
    std::vector<link> links_;
    std::map<uuid, std::size_t> lengths_{{uuid{}, 0}};
    task_map tasks_;
    bool sound_ = true;  // every operation had an effect
};

// Responds to a stale version with 409, as the reference server does.
class plain_server final : public model_server {
  public:
    std::optional<child> child_of(const uuid& parent) override {
        const auto length = chain_.length_at(parent);
        if (!length || *length == chain_.size()) return std::nullopt;
        return child{chain_.at(*length).id, chain_.at(*length).changes};
    }

    std::variant<accepted, expected> add_version(const uuid& parent, operations all) override {
        if (parent != chain_.tip()) return expected{chain_.tip()};
        return accepted{chain_.append(std::move(all))};
    }

    model_chain& chain() noexcept { return chain_; }

  private:
    model_chain chain_;
};

// Transforms stale versions. Returns a fork version, which represents the parent's state plus the
// device's own operations; its edge leads back to the chain.
class transforming_server final : public model_server {
  public:
    std::optional<child> child_of(const uuid& parent) override {
        if (const auto side = sides_.find(parent); side != sides_.end()) {
            return child{chain_.at(side->second.length - 1).id, side->second.changes};
        }
        const auto length = chain_.length_at(parent);
        if (!length || *length == chain_.size()) return std::nullopt;
        return child{chain_.at(*length).id, chain_.at(*length).changes};
    }

    std::variant<accepted, expected> add_version(const uuid& parent, operations all) override {
        operations since = concurrent_with(parent);
        const rules::presence there = rules::there_before(since);
        const std::size_t sent = all.size();
        all = rules::effective_only(std::move(all), [&](const uuid& id) {
            const auto found = there.find(id);
            return found == there.end() ? chain_.tasks().contains(id) : found->second;
        });
        without_effect_ += static_cast<int>(sent - all.size());
        all = rules::drop_transient(std::move(all), there);
        if (parent == chain_.tip()) return accepted{chain_.append(std::move(all))};
        ++late_;
        rules::transformed_lists lists = rules::transform_lists(std::move(since), std::move(all));
        chain_.append(std::move(lists.local));
        const uuid side = chain_.new_id();
        sides_[side] = {std::move(lists.server), chain_.size()};
        return accepted{side};
    }

    // A change by the server, as for REST requests.
    void write(const operation& o) {
        const operations effective = effective_on(chain_.tasks(), {o});
        if (!effective.empty()) chain_.append(effective);
    }

    model_chain& chain() noexcept { return chain_; }
    int late() const noexcept { return late_; }
    int without_effect() const noexcept { return without_effect_; }

  private:
    // The child is the chain's version of that length; `changes` are the operations up to it.
    struct edge {
        operations changes;
        std::size_t length = 0;
    };

    operations concurrent_with(const uuid& parent) const {
        operations since;
        std::size_t from = 0;
        if (const auto side = sides_.find(parent); side != sides_.end()) {
            since = side->second.changes;
            from = side->second.length;
        } else {
            from = chain_.length_at(parent).value();
        }
        for (; from < chain_.size(); ++from) {
            const operations& more = chain_.at(from).changes;
            since.insert(since.end(), more.begin(), more.end());
        }
        return since;
    }

    model_chain chain_;
    std::map<uuid, edge> sides_;
    int late_ = 0;
    int without_effect_ = 0;
};

// ---- accounts generated from a seed ----

struct transform_game {
    int replicas = 3;
    int moves = 300;
    int lost_in_hundred = 0;
    bool server_writes = false;
    bool alone = false;       // syncs do not interleave with anything
    int careless_from = 100;  // replicas from this index on also make edits without effect
    std::size_t batch_max = std::numeric_limits<std::size_t>::max();
};

template <class Server>
class transform_player {
  public:
    transform_player(unsigned seed, const transform_game& rules) : chance_(seed), rules_(rules) {
        for (int i = 0; i < rules.replicas; ++i) {
            clients_.push_back(std::make_unique<model_client>(server_, rules.batch_max));
        }
    }

    // Returns whether the first `careful` replicas converge.
    bool play(int careful) {
        for (int i = 0; i < rules_.moves; ++i) move();
        for (auto& client : clients_) {
            while (client->syncing()) client->step();
        }
        for (int round = 0; round < 2; ++round) {
            for (auto& client : clients_) client->sync();
        }
        for (int i = 1; i < careful; ++i) {
            if (clients_[static_cast<std::size_t>(i)]->tasks() != clients_[0]->tasks())
                return false;
        }
        return true;
    }

    Server& server() noexcept { return server_; }
    const task_map& tasks() const { return clients_[0]->tasks(); }
    int conflicts() const {
        int all = 0;
        for (const auto& client : clients_) all += client->conflicts();
        return all;
    }

  private:
    int below(int limit) { return static_cast<int>(chance_() % static_cast<unsigned>(limit)); }

    operation draw() { return make_operation(below(5), below(2), below(6), below(4)); }

    void move() {
        const int who = below(rules_.replicas);
        model_client& client = *clients_[static_cast<std::size_t>(who)];
        if constexpr (std::is_same_v<Server, transforming_server>) {
            if (rules_.server_writes && below(4) == 0) server_.write(draw());
        }
        if (client.syncing()) {
            client.step(below(100) < rules_.lost_in_hundred);
        } else if (below(3) == 0) {
            if (rules_.alone) {
                client.sync();
            } else {
                client.begin_sync();
            }
        } else {
            const operation o = draw();
            const bool effective = is_effective(o, client.tasks().contains(o.uuid));
            if (effective || who >= rules_.careless_from) client.edit(o);
        }
    }

    std::mt19937 chance_;
    transform_game rules_;
    Server server_;
    std::vector<std::unique_ptr<model_client>> clients_;
};

const auto transform_seeds = static_cast<unsigned>(times(CALLSIGN_TRANSFORM_SEEDS));

// Runs every seed and fails for the first one that diverges.
void expect_one_state(const transform_game& rules, bool all_careful = true) {
    int late = 0;
    for (unsigned seed = 1; seed <= transform_seeds; ++seed) {
        transform_player<transforming_server> p(seed, rules);
        ASSERT_TRUE(p.play(std::min(rules.replicas, rules.careless_from))) << "seed " << seed;
        ASSERT_EQ(p.tasks(), p.server().chain().tasks()) << "seed " << seed;
        ASSERT_TRUE(p.server().chain().sound()) << "seed " << seed;
        ASSERT_EQ(p.conflicts(), 0) << "seed " << seed;
        if (all_careful) {
            ASSERT_EQ(p.server().without_effect(), 0) << "seed " << seed;
        }
        late += p.server().late();
    }
    EXPECT_GT(late, static_cast<int>(transform_seeds) / 4);
}

TEST(stock_clients, agree_with_a_plain_server_without_stale_versions) {
    for (unsigned seed = 1; seed <= transform_seeds; ++seed) {
        transform_player<plain_server> p(seed, {.alone = true});
        ASSERT_TRUE(p.play(3)) << "seed " << seed;
        ASSERT_EQ(p.conflicts(), 0);
    }
}

// The stock client's bug is real: if this test failed, the other tests would verify nothing.
TEST(stock_clients, go_wrong_for_good_after_a_409) {
    unsigned diverged = 0;
    int conflicts = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
        transform_player<plain_server> p(seed, {});
        if (!p.play(3)) ++diverged;
        conflicts += p.conflicts();
    }
    EXPECT_GT(conflicts, 0);
    EXPECT_GT(diverged, 0u);
}

// A bug of stock clients that no server can fix: if local edits fill more than one body (a million
// bytes), the client transforms pulled operations over the current body only. It diverges with any
// server, and even alone.
TEST(stock_clients, go_wrong_by_themselves_when_they_pull_with_more_than_one_body_to_send) {
    unsigned diverged = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
        transform_player<plain_server> p(seed, {.alone = true, .batch_max = 2});
        if (!p.play(3)) ++diverged;
        ASSERT_EQ(p.conflicts(), 0);
    }
    EXPECT_GT(diverged, 0u);
}

TEST(stock_clients, never_go_wrong_with_a_server_that_transforms) {
    expect_one_state({});
}

TEST(stock_clients, never_go_wrong_with_a_server_that_writes) {
    expect_one_state({.server_writes = true});
}

TEST(stock_clients, never_go_wrong_when_responses_are_lost) {
    expect_one_state({.lost_in_hundred = 20, .server_writes = true});
}

TEST(stock_clients, never_go_wrong_in_a_crowd) {
    expect_one_state({.replicas = 6, .moves = 600, .lost_in_hundred = 5});
}

// A client that makes edits without effect may itself diverge; the others do not.
TEST(stock_clients, are_not_led_astray_by_one_that_edits_without_effect) {
    expect_one_state({.server_writes = true, .careless_from = 2}, false);
}

}  // namespace
}  // namespace callsign::testing
