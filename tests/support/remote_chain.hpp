#pragma once
// A TaskChampion server in memory: the chain of one client ID, with the rules of the reference
// server (core/src/server.rs of that project), and sinks that send requests to it. It outlives the
// processes that use it.

#include "support/carry_out.hpp"
#include "support/seeded_entropy.hpp"

#include <callsign/ports/task_sink.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace callsign::testing {

class chain_in_memory {
  public:
    struct link {
        uuid parent{};
        uuid version{};
        std::vector<operation> operations;
    };

    sink_add_answer add(const uuid& parent, std::vector<operation> operations) {
        if (!links_.empty() && parent != head()) return sink_conflict{head()};
        const uuid version = make_uuid_v7(time_point{milliseconds{1'600'000'000'000}}, 7, ++drawn_);
        for (const operation& o : operations) {
            const bool takes = carry_out(tasks_, o);
            if (takes && o.kind == operation_kind::create) ++made_[o.uuid];
            if (o.value) ++said_[{o.uuid, *o.value}];
        }
        links_.push_back({parent, version, std::move(operations)});
        return sink_accepted{version};
    }
    sink_child_answer child(const uuid& parent) const {
        for (const link& l : links_) {
            if (l.parent == parent) return sink_child{l.version, l.operations};
        }
        if (links_.empty() || parent == head()) return sink_up_to_date{};
        return sink_gone{};
    }
    sink_snapshot_answer snapshot() const {
        if (!snapshot_) return sink_no_snapshot{};
        return *snapshot_;
    }

    uuid head() const { return links_.empty() ? uuid{} : links_.back().version; }
    const std::vector<link>& links() const { return links_; }

    // The tasks of a replica that has all versions.
    const task_map& tasks() const { return tasks_; }
    // How often a task was created.
    int creations(const uuid& task) const {
        const auto found = made_.find(task);
        return found == made_.end() ? 0 : found->second;
    }

    // How often a task was given a value, even if it was overwritten since.
    int times_said(const uuid& task, const std::string& value) const {
        const auto found = said_.find({task, value});
        return found == said_.end() ? 0 : found->second;
    }

    void make_snapshot() { snapshot_ = sink_snapshot{head(), tasks()}; }
    // Deletes the versions before the newest `kept`, as some servers do.
    void forget_all_but(std::size_t kept) {
        if (links_.size() <= kept) return;
        links_.erase(links_.begin(), links_.end() - static_cast<std::ptrdiff_t>(kept));
    }
    // As after a restore from a backup.
    void go_back(std::size_t versions) {
        links_.resize(links_.size() - versions);
        tasks_.clear();
        for (const link& l : links_) {
            for (const operation& o : l.operations) carry_out(tasks_, o);
        }
    }
    void lose_all() {
        links_.clear();
        snapshot_.reset();
        tasks_.clear();
    }

  private:
    std::vector<link> links_;
    task_map tasks_;
    std::map<uuid, int> made_;
    std::map<std::pair<uuid, std::string>, int> said_;
    std::optional<sink_snapshot> snapshot_;
    std::uint64_t drawn_ = 0;
};

class memory_sink final : public task_sink {
  public:
    explicit memory_sink(chain_in_memory& chain) : chain_(chain) {}

    boost::asio::awaitable<sink_add_answer> add_version(
        uuid parent, std::vector<operation> operations) override {
        co_return chain_.add(parent, std::move(operations));
    }
    boost::asio::awaitable<sink_child_answer> get_child(uuid parent) override {
        co_return chain_.child(parent);
    }
    boost::asio::awaitable<sink_snapshot_answer> get_snapshot() override {
        co_return chain_.snapshot();
    }
    void cancel() override {}

  private:
    chain_in_memory& chain_;
};

// Faults of the connection, and delayed copies. It lives as long as the chain: a copy may arrive
// after the process that sent it was killed.
class faulty_wire {
  public:
    explicit faulty_wire(std::uint64_t seed) : chance_(seed) {}

    int faults_in_hundred = 0;
    bool is_down = false;
    // Rejects all versions: is full (5xx), or does not accept them (4xx).
    bool is_full = false;
    bool is_choosy = false;
    // Loses or delays all versions; answers queries.
    bool is_deaf = false;
    int late_landed = 0;  // delayed copies that were accepted

    // Called while a version is being sent; other replicas may add to the chain.
    std::function<void()> meanwhile{};

    enum class fate {
        none,
        unreachable,
        lose_request,
        lose_answer,
        delay,       // arrives after everything else, without a response
        twice,       // a copy arrives later
        busy,        // 500, not accepted
        busy_taken,  // 500, accepted
        untrue,      // 409 or 410 without cause
        broken,      // a truncated response
    };
    // The fates of the next versions and queries, in this order; then chance decides.
    std::deque<fate> sends{}, asks{};
    // The response to every query, if set.
    std::optional<sink_failure> answer{};

    fate draw(std::deque<fate>& script) {
        if (!script.empty()) {
            const fate next = script.front();
            script.pop_front();
            return next;
        }
        if (is_down) return fate::unreachable;
        if (chance_.below(100) >= static_cast<std::uint64_t>(faults_in_hundred)) return fate::none;
        return static_cast<fate>(1 + chance_.below(9));
    }
    bool once_in(std::uint64_t n) { return chance_.once_in(n); }

    void keep(const uuid& parent, std::vector<operation> operations) {
        late_.emplace_back(parent, std::move(operations));
    }
    // Delivers one of the delayed copies. Returns false if there is none.
    bool deliver_late(chain_in_memory& chain) {
        if (late_.empty()) return false;
        const auto which = static_cast<std::ptrdiff_t>(chance_.below(late_.size()));
        auto [parent, operations] = std::move(late_[static_cast<std::size_t>(which)]);
        late_.erase(late_.begin() + which);
        const auto taken = chain.add(parent, std::move(operations));
        late_landed += std::holds_alternative<sink_accepted>(taken);
        return true;
    }

  private:
    seeded_entropy chance_;
    std::deque<std::pair<uuid, std::vector<operation>>> late_;
};

class faulty_sink final : public task_sink {
  public:
    faulty_sink(chain_in_memory& chain, faulty_wire& wire) : chain_(chain), wire_(wire) {}

    boost::asio::awaitable<sink_add_answer> add_version(
        uuid parent, std::vector<operation> operations) override {
        using fate = faulty_wire::fate;
        if (wire_.is_full) co_return failure(sink_failure::kind::unavailable);
        if (wire_.is_choosy) co_return failure(sink_failure::kind::rejected);
        if (wire_.is_deaf) {
            if (wire_.once_in(2)) wire_.keep(parent, std::move(operations));
            co_return failure(sink_failure::kind::lost);
        }
        if (wire_.meanwhile) wire_.meanwhile();
        switch (wire_.draw(wire_.sends)) {
        case fate::none: break;
        case fate::unreachable: co_return failure(sink_failure::kind::unreachable);
        case fate::lose_request: co_return failure(sink_failure::kind::lost);
        case fate::delay:
            wire_.keep(parent, std::move(operations));
            co_return failure(sink_failure::kind::lost);
        case fate::twice: wire_.keep(parent, operations); break;
        case fate::busy: co_return failure(sink_failure::kind::unavailable);
        case fate::busy_taken:
            chain_.add(parent, std::move(operations));
            co_return failure(sink_failure::kind::unavailable);
        case fate::untrue: co_return sink_conflict{make_uuid_v7(time_point{milliseconds{1}}, 1, 1)};
        case fate::lose_answer:
        case fate::broken:
            chain_.add(parent, std::move(operations));
            co_return failure(sink_failure::kind::lost);
        }
        co_return chain_.add(parent, std::move(operations));
    }
    boost::asio::awaitable<sink_child_answer> get_child(uuid parent) override {
        if (auto fault = draw_failure()) co_return std::move(*fault);
        if (is_untrue_) co_return sink_gone{};
        co_return chain_.child(parent);
    }
    boost::asio::awaitable<sink_snapshot_answer> get_snapshot() override {
        if (auto fault = draw_failure()) co_return std::move(*fault);
        co_return chain_.snapshot();
    }
    void cancel() override {}

  private:
    static sink_failure failure(sink_failure::kind why) { return {why, "The wire is cut.", {}}; }

    std::optional<sink_failure> draw_failure() {
        using fate = faulty_wire::fate;
        is_untrue_ = false;
        if (wire_.answer) return wire_.answer;
        switch (wire_.draw(wire_.asks)) {
        case fate::unreachable: return failure(sink_failure::kind::unreachable);
        case fate::lose_request:
        case fate::lose_answer: return failure(sink_failure::kind::lost);
        case fate::busy:
        case fate::busy_taken: return failure(sink_failure::kind::unavailable);
        case fate::broken: return failure(sink_failure::kind::unreadable);
        case fate::untrue: is_untrue_ = true; return std::nullopt;
        default: return std::nullopt;
        }
    }

    chain_in_memory& chain_;
    faulty_wire& wire_;
    bool is_untrue_ = false;
};

}  // namespace callsign::testing
