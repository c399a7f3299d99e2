#include "audit/parts.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/replay.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

namespace callsign::rules::auditing {
namespace {

// Limits of a replay. Beyond them only links and creating versions are verified.
constexpr std::int64_t replayed_versions_max = 200'000;
constexpr std::size_t replayed_bytes_max = std::size_t{1} << 30;
constexpr std::size_t bytes_of_operation = 64;

// First and last seq, inclusive.
using seq_range = std::pair<std::int64_t, std::int64_t>;

bool contains(const std::vector<seq_range>& ranges, std::int64_t seq) {
    const auto behind = std::ranges::upper_bound(ranges, seq, {}, &seq_range::first);
    return behind != ranges.begin() && std::prev(behind)->second >= seq;
}

class chain_audit {
  public:
    chain_audit(read_tx& tx, findings& found, subject& s, std::span<const fork_return> sides,
                tally& all)
        : tx_(tx), found_(found), s_(s), sides_(sides), all_(all) {
        for (const fork_return& side : sides) side_ids_.insert(side.id);
    }

    void run() {
        read();
        if (is_managed()) look_at_ends();
        pass_sides(no_more);
        for (const kept_task& t : s_.tasks) look_at_maker(t);
        if (replays_) end_replay();
    }

  private:
    bool is_managed() const { return s_.owner.mode == account_mode::managed; }

    // ---- each version once ----

    void read() {
        const auto id = s_.owner.id;
        const auto in_order = [](std::int64_t before, const version& v) {
            if (v.seq <= before) throw_damaged("versions by seq", v.seq, "out of order");
            return v.seq;
        };
        for (std::int64_t after = std::numeric_limits<std::int64_t>::min();;) {
            std::string why;
            try {
                versions::visit(tx_, id, after, [&](const version& v) {
                    after = in_order(after, v);
                    see(v);
                });
                return;
            } catch (const store_failure& failure) {
                why = failure.what();
            }
            const auto next = next_readable(after, [&](std::int64_t place) {
                for (const version& v : versions::some(tx_, id, place, 1)) in_order(place, v);
            });
            pass_over(after, next.value_or(no_more), why);
            if (!next) return;
            after = *next;
        }
    }

    void see(const version& v) {
        look_at_place(v);
        if (side_ids_.contains(v.id)) {
            found_.fault(proofs::sides,
                         s_.who + "fork version " + to_string(v.id) + " is on the chain");
        }
        all_.operations += std::ssize(v.operations);
        if (!is_managed()) look_at_taken_over(v);
        for (const operation& o : v.operations) {
            if (o.kind == operation_kind::create) look_at_made(o.uuid, v.seq);
        }
        if (replays_) replay(v);
    }

    // An opaque account has versions only during a conversion: copies of the sealed ones, then
    // those with keys.
    void look_at_taken_over(const version& v) {
        if (!s_.sealed || v.seq > s_.owner.head.seq) return;
        const auto link = std::ranges::lower_bound(*s_.sealed, v.seq, {}, &sealed_link::seq);
        if (link != s_.sealed->end() && link->seq == v.seq && link->id == v.id) return;
        found_.fault(proofs::own_kind, s_.who + "an opaque account with versions: seq " +
                                           std::to_string(v.seq) + " is not a sealed version");
    }

    void look_at_place(const version& v) {
        pass_sides(v.seq);
        if (v.seq - 1 > last_) missing_.emplace_back(last_ + 1, v.seq - 1);
        const bool is_first = versions_ == 0 && unread_.empty();
        // Sealed chains may begin on another server; conversions are undone first version first.
        const bool was_sealed = v.seq == 1 && s_.owner.head.sealed_seq > 0;
        const bool may_be_any = is_first && (was_sealed || !is_managed());
        if (before_ && v.parent != *before_ && !may_be_any) {
            found_.fault(proofs::parents,
                         s_.who + "version " + std::to_string(v.seq) + " has another parent");
        }
        if (versions_++ == 0) first_ = v.seq;
        last_ = v.seq;
        before_ = v.id;
        if (v.seq == s_.owner.head.seq) head_ = v.id;
        if (v.seq != 1) return;
        begins_at_nothing_ = v.parent == uuid{};
        replays_ = begins_at_nothing_ && is_managed() && s_.owner.head.seq <= replayed_versions_max;
    }

    void pass_over(std::int64_t from, std::int64_t to, const std::string& why) {
        found_.unreadable(proofs::seqs,
                          s_.who + "versions" + between(from, to) + " cannot be read: " + why);
        unread_.emplace_back(std::max<std::int64_t>(from, 0) + 1, to);
        last_ = to;
        before_.reset();
        give_up_replay();  // the chain's content is no longer fully known
    }

    // ---- the ends of the chain ----

    void look_at_ends() {
        const std::int64_t end = s_.owner.head.seq;
        if (unread_.empty() && (versions_ != end || last_ != end || (end > 0 && first_ != 1))) {
            found_.fault(proofs::seqs, s_.who + "head at " + std::to_string(end) + ", but " +
                                           std::to_string(versions_) + " versions " +
                                           std::to_string(first_) + ".." + std::to_string(last_));
        }
        if (!unread_.empty() && !missing_.empty()) {
            found_.fault(proofs::seqs,
                         s_.who + "there is no version " + std::to_string(missing_.front().first));
        }
        if (contains(unread_, end)) return;
        if (s_.owner.head.version != head_) {
            found_.fault(proofs::parents, s_.who + "the head is not its last version");
        }
    }

    // ---- fork versions ----

    // Reports fork versions that lead to a missing version before `seq`.
    void pass_sides(std::int64_t seq) {
        for (; !sides_.empty() && sides_.front().seq < seq; sides_ = sides_.subspan(1)) {
            const fork_return& side = sides_.front();
            if (has(side.seq) || contains(unread_, side.seq)) continue;
            found_.fault(proofs::sides, s_.who + "fork version " + to_string(side.id) +
                                            " leads to seq " + std::to_string(side.seq) +
                                            ", which does not exist");
        }
    }

    bool has(std::int64_t seq) const {
        return versions_ > 0 && seq >= first_ && seq <= last_ && !contains(missing_, seq) &&
               !contains(unread_, seq);
    }

    // ---- creating versions ----

    // A receipt names the version that created the task. Exceptions: a chain that began on another
    // server has tasks that no version here created, and an opaque account has numbers whose task
    // never arrived.
    void look_at_maker(const kept_task& t) {
        if (t.was_made || !t.numbered || contains(unread_, t.seq)) return;
        const std::string which =
            s_.who + "task " + to_string(t.uuid) + ", seq " + std::to_string(t.seq);
        const bool was_opaque =
            s_.owner.mode == account_mode::opaque || s_.owner.head.sealed_seq > 0;
        if (t.seq == 0 && was_opaque) return;
        if (!has(t.seq)) {
            found_.fault(proofs::makers, which + ": there is no such version");
        } else if (begins_at_nothing_ && !(t.was_made_before && gives_number(t))) {
            found_.fault(proofs::makers, which + ": that version did not create the task");
        }
    }

    // Returns whether a later version numbered a task that arrived without a number: one by the
    // server that sets keys (empty if keys are disabled), or one in which a device sets the task's
    // key or deletes the task.
    bool gives_number(const kept_task& t) {
        bool does = false;
        const auto is_update = [](const operation& o) { return o.kind == operation_kind::update; };
        for (const version& v : versions::some(tx_, s_.owner.id, t.seq - 1, 1)) {
            if (v.seq != t.seq) continue;
            does = v.author == author{}
                       ? std::ranges::all_of(v.operations, is_update)
                       : std::ranges::any_of(v.operations, [&](const operation& o) {
                             return o.kind != operation_kind::create && o.uuid == t.uuid;
                         });
        }
        return does;
    }

    // A task that a version created has a row, even if purged. Exception: tasks that were created
    // and deleted while the chain was sealed.
    void look_at_made(const uuid& id, std::int64_t seq) {
        if (kept_task* t = find(id)) {
            t->was_made = t->was_made || t->seq == seq;
            t->was_made_before = t->was_made_before || seq < t->seq;
            return;
        }
        const looked_up there = look_up(tx_, s_.owner.id, id);
        if (!there.readable) return;
        const std::string which = "version " + std::to_string(seq) + " created " + to_string(id);
        if (there.row && s_.all_tasks_read) {
            found_.fault(proofs::counted,
                         s_.who + which + ", whose number belongs to no series of the account");
        } else if (!there.row && is_managed() && seq > s_.owner.head.sealed_seq) {
            found_.fault(proofs::made, s_.who + which + ", which does not exist");
        }
    }

    kept_task* find(const uuid& id) {
        const auto found = std::ranges::lower_bound(s_.tasks, id, {}, &kept_task::uuid);
        return found != s_.tasks.end() && found->uuid == id ? &*found : nullptr;
    }

    // ---- replaying the chain gives the tasks, and each operation has an effect ----

    void replay(const version& v) {
        for (const operation& o : v.operations) {
            bytes_ += bytes_of_operation + o.property.size() + (o.value ? o.value->size() : 0);
            if (said_.carry_out(o)) {
                if (o.kind == operation_kind::remove) forgive_history(o.uuid);
                continue;
            }
            found_.fault(proofs::replay, s_.who + "version " + std::to_string(v.seq) +
                                             " has an operation without effect on task " +
                                             to_string(o.uuid));
        }
        look_at_history(v);
        if (versions_ > replayed_versions_max || bytes_ > replayed_bytes_max) give_up_replay();
    }

    // Verifies the stored state after `v` of each task that has changed since. If the server's own
    // next version changes the task too, only the state after that version is stored.
    void look_at_history(const version& v) {
        if (v.seq <= history_from()) return;
        std::set<uuid> touched;  // ordered, so that the findings are
        for (const operation& o : v.operations) touched.insert(o.uuid);
        for (const uuid& id : std::exchange(kept_next_, {})) {
            if (touched.contains(id)) continue;
            note_history(id, "there is no history of task " + to_string(id) + " after version " +
                                 std::to_string(v.seq - 1));
        }
        for (const uuid& id : touched) {
            const kept_task* const t = find(id);
            if (t && t->last_seq > v.seq) look_at_state(id, v.seq);
        }
    }

    void look_at_state(const uuid& id, std::int64_t seq) {
        std::optional<task> stood;
        try {
            stood = history::find_as_of(tx_, s_.owner.id, id, seq);
        } catch (const store_failure&) {
            return;  // reported as unreadable
        }
        if (!stood || stood->last_seq != seq) {
            kept_next_.insert(id);
            return;
        }
        const attributes* const said = said_.find(id);
        const bool is_right =
            said == nullptr ? stood->purged : !stood->purged && stood->attributes == *said;
        if (is_right) return;
        note_history(id, "task " + to_string(id) + " differs in the history, as of version " +
                             std::to_string(seq));
    }

    void note_history(const uuid& id, std::string why) {
        history_faults_[id].push_back(s_.who + std::move(why));
    }

    // A purge removes history and text in steps, so earlier differences are no errors.
    void forgive_history(const uuid& id) {
        history_faults_.erase(id);
        kept_next_.erase(id);
    }

    std::int64_t history_from() {
        if (!history_from_) {
            try {
                history_from_ = accounts::history_from(tx_, s_.owner.id);
            } catch (const store_failure&) {
                history_from_ = no_more;  // reported as unreadable
            }
        }
        return *history_from_;
    }

    void give_up_replay() {
        replays_ = false;
        said_ = {};
        history_faults_.clear();
    }

    void end_replay() {
        ++all_.chains_replayed;
        for (const auto& [id, faults] : history_faults_) {
            for (const std::string& why : faults) found_.fault(proofs::history, why);
        }
        const task_map& said = said_.tasks();
        for (const auto& [id, attributes] : said) {
            if (!is(id, attributes)) {
                found_.fault(proofs::replay,
                             s_.who + "task " + to_string(id) + " differs from the chain");
            }
        }
        if (!s_.all_tasks_read) return;
        const auto here = std::ranges::count(s_.tasks, false, &kept_task::purged);
        if (here == std::ssize(said)) return;
        found_.fault(proofs::replay, s_.who + std::to_string(here) + " tasks, and " +
                                         std::to_string(said.size()) + " on the chain");
    }

    // Returns true for unreadable rows too: they are reported elsewhere.
    bool is(const uuid& id, const attributes& said) {
        if (const kept_task* t = find(id)) return !t->purged && t->said == hash_of(said);
        const looked_up there = look_up(tx_, s_.owner.id, id);
        return !there.readable ||
               (there.row && !there.row->purged && there.row->attributes == said);
    }

    read_tx& tx_;
    findings& found_;
    subject& s_;
    std::span<const fork_return> sides_;  // not passed yet
    std::unordered_set<uuid, keyed_hash> side_ids_;
    tally& all_;

    std::int64_t versions_ = 0, first_ = 0, last_ = 0;
    std::vector<seq_range> missing_, unread_;
    std::optional<uuid> before_ = uuid{};  // ID of the previous version; none: it is unreadable
    uuid head_{};                          // ID of the version at the account's last seq
    bool begins_at_nothing_ = false;

    bool replays_ = false;
    std::optional<std::int64_t> history_from_;
    std::set<uuid> kept_next_;  // tasks whose state may be stored only after the next version
    std::map<uuid, std::vector<std::string>>
        history_faults_;  // dropped if a Delete of the task follows
    callsign::replay said_;
    std::size_t bytes_ = 0;
};

}  // namespace

void look_at_chain(read_tx& tx, findings& found, subject& s, std::span<const fork_return> sides,
                   tally& all) {
    chain_audit(tx, found, s, sides, all).run();
}

}  // namespace callsign::rules::auditing
