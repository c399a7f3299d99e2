#pragma once
// Followers of a managed account: each reads a few changes at random moments and resumes from its
// cursor after absences of any length. Some leave permanently, new ones join. At random moments
// history that followers may still need expires.

#include "property/managed_account.hpp"
#include "support/model_follower.hpp"

#include <callsign/rules/rows/accounts.hpp>

#include <random>

namespace callsign::testing {

class account_followers {
  public:
    // A separate source of randomness: the account's run is the same with and without followers.
    account_followers(managed_account& account, unsigned seed, bool forgetful)
        : account_(account), chance_(seed), forgetful_(forgetful), told_(account.id()) {
        for (int n = 0; n < 4; ++n) all_.push_back(newcomer(n));
    }

    const told_changes& told() {
        told_.read_on(*account_.data().begin_read());
        return told_;
    }

    void move() {
        if (forgetful_ && below(20) == 0) forget();
        if (below(6) != 0) return;
        const int n = below(static_cast<int>(all_.size()));
        auto& chosen = all_[static_cast<std::size_t>(n)];
        if (below(30) == 0) {
            leave(chosen);
            chosen = newcomer(n);
        }
        read(chosen, static_cast<std::size_t>(1 + below(4)), below(3) == 0 ? 1 : 5'000);
    }

    void read_to_the_end() {
        for (auto& each : all_) {
            while (read(each, 1'000, step_work_max)) {
            }
        }
    }

    // Purged tasks are about to be removed from the chain: later reads must not find their content.
    void begin_scrub() {
        read_to_the_end();
        is_scrubbed_ = true;
    }

    std::set<std::string> faults() {
        read_to_the_end();
        for (auto& each : all_) {
            each.model.finish(told_);
            leave(each);
        }
        return faults_;
    }

    int expiries() const { return expiries_; }

  private:
    struct one {
        model_follower model{};
        std::optional<task_filter> filter{};
        std::optional<std::string> mark{};
    };

    int below(int limit) { return static_cast<int>(chance_() % static_cast<unsigned>(limit)); }

    // Every second follower has a filter.
    one newcomer(int n) {
        one made;
        if (n == 1) {
            made.filter = task_filter{.statuses = {task_status::pending, task_status::completed,
                                                   task_status::deleted, task_status::recurring},
                                      .project = "one"};
            made.model = model_follower([](const uuid&, const attributes& all) {
                return value_of(all, "project") == "one";
            });
        } else if (n == 3) {
            made.filter = task_filter{.statuses = {task_status::pending}};
            made.model = model_follower([](const uuid&, const attributes& all) {
                const auto status = value_of(all, "status");
                return status != "completed" && status != "deleted";
            });
        }
        const auto tx = account_.data().begin_read();
        told_.read_on(*tx);
        if (is_scrubbed_ || below(2) == 0 || accounts::history_from(*tx, account_.id()) > 0) {
            const chain_head head = accounts::head_of(*tx, account_.id());
            made.model.begin_at({head.seq}, told_);
            made.mark = mark_of_version(head.version);
        }
        return made;
    }

    void leave(const one& who) {
        faults_.insert(who.model.faults().begin(), who.model.faults().end());
        expiries_ += who.model.expiries();
    }

    // Returns false at the end of the feed.
    bool read(one& who, std::size_t limit, std::size_t work_max) {
        const auto tx = account_.data().begin_read();
        told_.read_on(*tx);
        const std::int64_t from = accounts::history_from(*tx, account_.id());
        auto answer = rules::read(*tx, read_changes{account_.id(), who.model.place(), who.mark,
                                                    limit, who.filter, account_.now(), work_max});
        if (const auto* const expired = std::get_if<read_changes::expired>(&answer)) {
            who.model.begin_again({expired->oldest}, told_, from);
            who.mark = expired->mark;
            return true;
        }
        auto* const part = std::get_if<read_changes::part>(&answer);
        if (!part) {
            who.model.reject("the cursor is rejected");
            return false;
        }
        std::vector<heard_change> shown;
        for (task_change& c : part->changes) {
            shown.push_back({c.place, c.task.uuid, c.task.purged, std::move(c.task.attributes),
                             std::move(c.changed)});
        }
        if (shown.size() > limit) who.model.reject("more changes than the limit");
        if (part->last != told_.seq()) who.model.reject("wrong last seq");
        if (part->has_more == (part->next == feed_place{part->last})) {
            who.model.reject("wrong end of the page");
        }
        if (part->has_more && part->next == who.model.place()) {
            who.model.reject("the follower does not advance");
            return false;
        }
        who.model.hear(shown, part->next, told_, from);
        who.mark = part->mark;
        return part->has_more;
    }

    // Expires the states that ended long enough ago, a few at a time; no younger ones, and all of
    // them in the end.
    void forget() {
        constexpr milliseconds kept{15};
        const forget_settled c{slot_id{}, 1 + below(8), std::chrono::hours{24}, kept};
        const std::int64_t before =
            accounts::history_from(*account_.data().begin_read(), account_.id());
        const auto done = account_.run(c);
        const auto tx = account_.data().begin_read();
        told_.read_on(*tx);
        const std::int64_t from = accounts::history_from(*tx, account_.id());
        const std::int64_t due = std::max(before, told_.history_from(account_.now() - kept));
        if (from < before || from > due) faults_.insert("history expires too early");
        if (done && !done->next && from != due) faults_.insert("old history does not expire");
    }

    managed_account& account_;
    std::mt19937 chance_;
    bool is_scrubbed_ = false;
    bool forgetful_;
    told_changes told_;
    std::vector<one> all_;
    std::set<std::string> faults_;
    int expiries_ = 0;
};

}  // namespace callsign::testing
