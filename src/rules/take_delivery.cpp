// Selects what an account's outbox sends next.

#include "edits.hpp"
#include "key_effects.hpp"
#include "mirror.hpp"
#include "numbering.hpp"
#include "read/walk.hpp"
#include "resolve.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/work.hpp>
#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/series.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>

namespace callsign::rules {
namespace {

class collector {
  public:
    collector(write_tx& tx, const take_delivery& c, remote_chain& remote, const moment& m)
        : tx_(tx), command_(c), remote_(remote), moment_(m), at_(marked_time(m)) {
        taken_.parent = remote.cursor;
    }

    take_delivery::taken run() {
        if (remote_.moving) look_at_moving();
        if (remote_.moving) return std::move(taken_);
        for (std::size_t i = 0; i < command_.edits.size(); ++i) look_at(i);
        for (effect& e : waiting()) look_at(std::move(e));
        return std::move(taken_);
    }

  private:
    bool is_full() const { return work_ >= command_.work_max; }

    // Sends tasks of a moving account in their current state, even if the remote has some already.
    void look_at_moving() {
        move_progress so_far{remote_.moving->after, remote_.moving->tasks};
        std::vector<operation> all;
        std::int64_t left = command_.effects_max;
        task_walk through(tx_, all_series::of(tx_, command_.account), so_far.after,
                          {.work_max = command_.work_max}, [&](task&& t, series_id) {
                              if (t.purged) return true;
                              append_creation(all, t, at_);
                              ++so_far.tasks;
                              return --left > 0;
                          });
        so_far.after = std::move(through).next();
        if (!so_far.after && all.empty()) {
            remote_.moving.reset();
            remotes::update(tx_, remote_);
            moment_.tell(events::remote_changed{command_.account});
            return;
        }
        taken_.has_more = true;
        append(std::move(all), {.moved = so_far});
    }

    // One edit of a task at a time, and one with a key: the next depends on its outcome.
    void look_at(std::size_t i) {
        const edit_task& c = command_.edits[i];
        if (is_full() || (c.once && keys_.contains(c.once->key))) {
            taken_.has_more = true;
            return;
        }
        auto planned = plan(tx_, c, moment_);
        if (auto* const settled = std::get_if<edit_task::answer>(&planned)) {
            const bool may_change = changes_one_of_ours(c);
            if (may_change) {
                taken_.has_more = true;
            } else {
                taken_.answered.emplace_back(i, kept_answer(tx_, c, std::move(*settled), moment_));
            }
            return;
        }
        auto& wanted = std::get<planned_edit>(planned);
        if (!edited_.insert(wanted.task).second) {
            taken_.has_more = true;
            return;
        }
        for (operation& o : wanted.operations) {
            if (o.kind == operation_kind::update) o.at = at_;
        }
        for (const auto& t : wanted.tasks.all()) work_ += size_of(t.now);  // the response has it
        if (c.once) keys_.insert(c.once->key);
        append(std::move(wanted.operations), {.author = c.author, .edit = i, .once = c.once});
    }

    // Returns whether the task is edited earlier in the same version.
    bool changes_one_of_ours(const edit_task& c) {
        if (edited_.empty()) return false;
        const auto named = resolve(tx_, c.account, c.task);
        const auto* const found = std::get_if<task>(&named);
        return found && edited_.contains(found->uuid);
    }

    bool is_forestalled(const effect& e) const {
        return e.attempts > 0 &&
               std::ranges::find(command_.forestalled, e.id) != command_.forestalled.end();
    }

    // All entries are read before any is changed: a scan must not meet changes.
    std::vector<effect> waiting() {
        std::vector<effect> some;
        std::size_t work = work_;
        effects::visit(tx_, command_.account, effect_id{}, [&](effect&& e) {
            if (is_forestalled(e)) --e.attempts;
            if (e.attempts >= command_.attempts_max) return true;
            const bool has_room =
                std::ssize(some) < command_.effects_max && work < command_.work_max;
            if (!has_room) {
                taken_.has_more = true;
                return false;
            }
            work += work_of_task + work_of(e.operations);
            some.push_back(std::move(e));
            return true;
        });
        return some;
    }

    void look_at(effect&& e) {
        if (e.kind == effect_kind::key) {
            auto correction = key_operation(tx_, e, moment_);
            if (!correction) {
                effects::remove(tx_, e.id);
                return;
            }
            correction->at = at_;
            e.operations.push_back(*std::move(correction));
        }
        ++e.attempts;
        e.parent = taken_.parent;
        effects::update(tx_, e);
        append(std::move(e.operations), {.author = e.author, .effect = e.id});
    }

    void append(std::vector<operation> operations, delivery_part part) {
        part.operations = operations.size();
        for (operation& o : operations) {
            work_ += work_of(o);
            taken_.operations.push_back(std::move(o));
        }
        taken_.parts.push_back(part);
    }

    write_tx& tx_;
    const take_delivery& command_;
    remote_chain& remote_;
    const moment& moment_;
    precise_time at_;
    std::size_t work_ = 0;
    std::unordered_set<uuid, keyed_hash> edited_;
    std::set<std::string_view> keys_;  // of `edited_`
    take_delivery::taken taken_;
};

}  // namespace

take_delivery::answer apply(write_tx& tx, const take_delivery& c, const moment& m) {
    auto remote = remotes::find(tx, c.account);
    if (!remote) return no_remote{};
    if (remote->halted != remote_halt::none) return remote_halted{remote->halted};
    // Part of a version is applied: edits planned on this state would be wrong.
    if (!remote->partial.is_nil()) {
        take_delivery::taken nothing;
        nothing.parent = remote->cursor;
        return nothing;
    }
    return collector(tx, c, *remote, m).run();
}

}  // namespace callsign::rules
