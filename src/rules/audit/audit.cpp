#include "audit/parts.hpp"

#include <callsign/rules/audit.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/forks.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/sealed.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace callsign::rules {
namespace auditing {
namespace {

constexpr std::int64_t rows_at_once = 256;

class auditor {
  public:
    auditor(read_tx& tx, findings& found) : tx_(tx), found_(found) {}

    void run() {
        look_at_rows(tx_, found_);
        for (const proof* p :
             {&proofs::numbers, &proofs::counted, &proofs::every_task, &proofs::seqs,
              &proofs::own_kind, &proofs::remotes, &proofs::sealed_parents, &proofs::sealed_once,
              &proofs::snapshots, &proofs::device_keys, &proofs::clients, &proofs::parents,
              &proofs::sides, &proofs::makers, &proofs::replay}) {
            found_.begin(*p);
        }
        read_links();
        read_sides();
        read_unnumbered();
        look_at_accounts();
        look_at_sides_of_nobody();
        for (const proof* p : {&proofs::one_slot, &proofs::slot_task, &proofs::one_maker,
                               &proofs::slot_state, &proofs::in_flight}) {
            found_.begin(*p);
        }
        look_at_slots(tx_, found_, all_);
        found_.count("operations", all_.operations);
        found_.count("chains replayed", all_.chains_replayed);
    }

  private:
    template <class Look>
    void attempt(const proof& p, const std::string& who, Look look) {
        try {
            look();
        } catch (const store_failure& failure) {
            found_.unreadable(p, who + "cannot be read to its end: " + failure.what());
        }
    }

    // ---- tables that are not ordered by account ----

    void read_links() {
        each_row(
            rows_at_once,
            [&](std::int64_t after, std::int64_t limit) {
                return sealed::links(tx_, after, limit);
            },
            [](const sealed_link& link) { return link.place; },
            [&](const sealed_link& link) { links_.push_back(link); },
            [&](std::int64_t from, std::int64_t to, const std::string& why) {
                all_links_read_ = false;
                found_.unreadable(proofs::seqs, "sealed versions" + between(from, to) +
                                                    " cannot be read: " + why);
            });
        std::ranges::sort(
            links_, {}, [](const sealed_link& link) { return std::tuple(link.account, link.seq); });
    }

    void read_sides() {
        attempt(proofs::sides, "", [&] {
            for (fork_return last;;) {
                const auto some = forks::returns(tx_, last, rows_at_once);
                sides_.insert(sides_.end(), some.begin(), some.end());
                if (std::ssize(some) < rows_at_once) return;
                const auto place = [](const fork_return& s) { return std::tuple(s.id, s.account); };
                if (place(some.back()) <= place(last)) {
                    throw store_failure(store_failure::kind::damaged, "damaged: rows out of order");
                }
                last = some.back();
            }
        });
        std::ranges::sort(sides_, {},
                          [](const fork_return& s) { return std::tuple(s.account, s.seq); });
    }

    void read_unnumbered() {
        each_row(
            rows_at_once,
            [&](std::int64_t after, std::int64_t limit) {
                return tasks::unnumbered(tx_, task_id{after}, limit);
            },
            [](const task& t) { return t.id.value; },
            [&](const task& t) {
                if (!may_be_unnumbered(t)) {
                    found_.fault(proofs::every_task, name_of(t.account) + "task " +
                                                         to_string(t.uuid) + " has no number");
                }
                all_.tasks.push_back(mark_of(t.id, t.account, t.uuid));
                unnumbered_[t.account].push_back(keep(t));
            },
            [&](std::int64_t from, std::int64_t to, const std::string& why) {
                found_.unreadable(proofs::every_task,
                                  "tasks" + between(from, to) + " cannot be read: " + why);
            });
    }

    // Returns whether the task's series is held or still numbers its tasks.
    bool may_be_unnumbered(const task& t) {
        const auto its = all_series::find(tx_, t.account, t.current_prefix);
        return its && (its->held || its->numbering);
    }

    // ---- account by account ----

    void look_at_accounts() {
        each_row(
            rows_at_once,
            [&](std::int64_t after, std::int64_t limit) {
                return accounts::some(tx_, account_id{after}, limit);
            },
            [](const account& a) { return a.id.value; }, [&](const account& a) { look_at(a); },
            [&](std::int64_t from, std::int64_t to, const std::string& why) {
                found_.unreadable(proofs::seqs,
                                  "accounts" + between(from, to) + " cannot be read: " + why);
            });
    }

    void look_at(const account& a) {
        // Some of its rows are already removed.
        if (a.state == account_state::removing) return;
        subject s{a, name_of(a.id)};
        attempt(proofs::remotes, s.who, [&] { look_at_remote(s); });
        attempt(proofs::device_keys, s.who, [&] { look_at_devices(s); });
        if (const auto found = unnumbered_.find(a.id); found != unnumbered_.end()) {
            s.tasks = std::move(found->second);
        }
        if (all_links_read_) s.sealed = of(links_, a.id);
        look_at_tasks(tx_, found_, s, all_);
        look_at_chain(tx_, found_, s, of(sides_, a.id), all_);
        if (s.sealed) look_at_sealed_chain(tx_, found_, s, *s.sealed);
    }

    void look_at_remote(const subject& s) {
        if (s.owner.is_remote == remotes::find(tx_, s.owner.id).has_value()) return;
        found_.fault(proofs::remotes,
                     s.who + (s.owner.is_remote ? "the account is remote, and has no remote chain"
                                                : "the account is local, and has a remote chain"));
    }

    void look_at_devices(const subject& s) {
        const bool is_managed = s.owner.mode == account_mode::managed;
        const auto devices = devices::of(tx_, s.owner.id);
        for (const device& d : devices) {
            if (d.sealed_key.empty() != is_managed) continue;
            found_.fault(
                proofs::device_keys,
                "device " + std::to_string(d.id.value) + ": its account is " +
                    (is_managed ? "managed, and it has no key" : "opaque, and it has a key"));
        }
        if (devices.empty() && !is_managed) {
            found_.fault(proofs::clients, s.who + "the account has no client ID");
        }
    }

    template <class Row>
    std::span<const Row> of(const std::vector<Row>& rows, account_id account) {
        const auto first = std::ranges::lower_bound(rows, account, {}, &Row::account);
        const auto last = std::ranges::upper_bound(rows, account, {}, &Row::account);
        return {first, last};
    }

    // Reports fork versions without an account, which look_at_accounts() does not reach.
    void look_at_sides_of_nobody() {
        for (std::size_t i = 0; i < sides_.size(); ++i) {
            const fork_return& side = sides_[i];
            if (i > 0 && sides_[i - 1].account == side.account) continue;
            attempt(proofs::sides, name_of(side.account), [&] {
                if (accounts::find(tx_, side.account)) return;
                found_.fault(proofs::sides, name_of(side.account) + "fork version " +
                                                to_string(side.id) + " leads to seq " +
                                                std::to_string(side.seq) +
                                                ", which does not exist");
            });
        }
    }

    read_tx& tx_;
    findings& found_;
    std::vector<sealed_link> links_;  // by account and seq
    bool all_links_read_ = true;
    std::vector<fork_return> sides_;  // by account and seq
    std::map<account_id, std::vector<kept_task>> unnumbered_;
    tally all_;
};

}  // namespace
}  // namespace auditing

void audit(read_tx& tx, findings& found) {
    auditing::auditor(tx, found).run();
}

}  // namespace callsign::rules
