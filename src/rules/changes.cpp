#include "changes.hpp"

#include "brought_keys.hpp"
#include "key_effects.hpp"
#include "numbering.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/purges.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>
#include <iterator>

namespace callsign::rules {
namespace {

// Writes the tasks as version `seq`, appended before, leaves them: within their limits and with
// their keys.
class task_writer {
  public:
    task_writer(write_tx& tx, account_id account, std::int64_t seq, const changes_origin& from,
                const moment& m)
        : tx_(tx),
          account_(account),
          is_remote_(accounts::is_remote(tx, account)),
          seq_(seq),
          from_(from),
          moment_(m) {}

    void write(touched_tasks::touched& t) {
        auto taken_away = from_.cuts
                              ? touched_tasks::cut(t, moment_.wall, moment_.synced_task_bytes_max)
                              : std::vector<operation>{};
        is_cut_ = !taken_away.empty();
        if (is_cut_) ++cut_;
        std::ranges::move(taken_away, std::back_inserter(own_));
        if (t.is_new()) {
            put(t);
        } else if (t.before) {
            update(t);
        }
    }

    // Appends the server's own version after version `seq`.
    void append_own() {
        if (own_.empty()) return;
        const auto seq =
            versions::append(tx_, account_, moment_.ids.next(moment_.now), moment_.now, own_);
        if (seq != seq_ + 1) throw_damaged("accounts", account_.value, "its head has moved");
        moment_.tell(events::version_appended{account_, seq});
    }

    std::int64_t numbered() const { return numbered_; }
    std::int64_t settled() const { return settled_; }
    std::int64_t cut() const { return cut_; }

  private:
    void put(touched_tasks::touched& t) {
        const auto creation = creation_of(t);
        task made;
        made.account = account_;
        made.uuid = t.id;
        made.created_at = moment_.now;
        const bool is_own = creation && from_.is_own(*creation);
        made.author = is_own ? creation->author : from_.by;
        if (is_own) made.slot = creation->slot;
        const series_id series = number(made, t.now, is_own ? creation->prefix : std::string());
        made.last_seq = correct_key(made, nullptr, t.now);
        made.attributes = std::move(t.now);
        const bool is_numbered = made.numbered.has_value();
        const task_id id = tasks::put(tx_, std::move(made), series);
        if (is_numbered) appeared(t, id, creation);
    }

    // Reveals a task that was numbered while the server could not read it.
    void reveal(touched_tasks::touched& t) {
        const std::int64_t last_seq = correct_key(*t.before, nullptr, t.now);
        tasks::reveal(tx_, t.before->id, std::move(t.now), seq_, last_seq);
        appeared(t, t.before->id, creation_of(t));
    }

    // Returns the outbox entry that creates the task on the remote server.
    std::optional<effect> creation_of(const touched_tasks::touched& t) {
        if (!is_remote_) return std::nullopt;
        return effects::find(tx_, account_, t.id, effect_kind::creation);
    }

    // Settles the task's outbox entry and commits the slots that wait for the task.
    void appeared(const touched_tasks::touched& t, task_id id,
                  const std::optional<effect>& creation) {
        if (creation) land(*creation, from_.is_own(*creation), id);
        commit_waiting_slots(tx_, account_, t.id, id, moment_);
    }

    // Numbers the task, unless its series is held. Returns its series.
    series_id number(task& made, const attributes& all, const std::string& prefix) {
        if (const auto series = take_brought(made, all)) return *series;
        const series from = series_for(tx_, account_, prefix, project_of(all));
        made.current_prefix = from.prefix;
        if (!from.held || is_remote_) {
            made.numbered = take_receipt(tx_, from, made.uuid, moment_);
            made.numbered->seq = seq_;
            ++numbered_;
        }
        return from.id;
    }

    // Takes the number that a device or an import brings in the key attribute.
    std::optional<series_id> take_brought(task& t, const attributes& all) {
        if (is_remote_) return std::nullopt;
        const auto brought = find_brought_number(tx_, account_, all, from_.imported, moment_);
        if (!brought) return std::nullopt;
        take_brought_number(tx_, t, all, *brought, moment_);
        t.numbered->seq = seq_;
        ++numbered_;
        return brought->of.id;
    }

    // Removes a creation from the outbox: it has created the task, or another writer was first.
    void land(const effect& creation, bool is_own, task_id id) {
        if (is_own) {
            const auto waiting = slots::find(tx_, *creation.slot);
            if (!waiting) throw_damaged("outbox", creation.id.value, "its slot is gone");
            commit_slot(tx_, *waiting, id, true, moment_);
        }
        effects::remove(tx_, creation.id);
        ++settled_;
    }

    // Numbers a task that arrived without its number and for which a device now brings it.
    void number_late(touched_tasks::touched& t) {
        task& late = *t.before;
        const auto series = take_brought(late, t.now);
        if (!series) return;
        tasks::number(tx_, late.id, *series, *late.numbered);
        commit_waiting_slots(tx_, account_, t.id, late.id, moment_);
    }

    void update(touched_tasks::touched& t) {
        // The task was only read.
        if (!t.changed) return;
        if (t.there && is_unseen(*t.before)) return reveal(t);
        if (t.there && !t.before->numbered) number_late(t);
        std::int64_t seq = seq_;
        if (t.there) {
            seq = correct_key(*t.before, &t.before->attributes, t.now);
        } else if (is_remote_) {
            drop_key_effect(tx_, *t.before);
        }
        tasks::update(tx_, *t.before, std::move(t.now), !t.there, seq, moment_.now);
    }

    // Returns the seq of the last version that changes the task.
    std::int64_t correct_key(const task& numbered, const attributes* before, attributes& now) {
        const std::int64_t last = is_cut_ ? seq_ + 1 : seq_;
        if (is_remote_ && numbered.numbered) {
            keep_key_effect(tx_, numbered, before, now, moment_);
            return last;
        }
        auto correction = rules::correct_key(numbered, now, moment_);
        if (!correction) return last;
        own_.push_back(std::move(*correction));
        return seq_ + 1;
    }

    write_tx& tx_;
    account_id account_;
    bool is_remote_;
    std::int64_t seq_;
    const changes_origin& from_;
    const moment& moment_;
    std::vector<operation> own_;
    bool is_cut_ = false;  // of the task being written
    std::int64_t numbered_ = 0;
    std::int64_t settled_ = 0;
    std::int64_t cut_ = 0;
};

}  // namespace

void put_purges(write_tx& tx, account_id account, std::span<const operation> operations,
                std::int64_t seq) {
    for (const operation& o : operations) {
        if (o.kind == operation_kind::remove) purges::put(tx, {account, o.uuid, seq});
    }
}

appended_changes append_changes(write_tx& tx, account_id account,
                                std::span<const operation> operations, touched_tasks& tasks,
                                const changes_origin& from, const moment& m) {
    appended_changes done;
    done.version = from.version ? *from.version : m.ids.next(m.now);
    done.seq = versions::append(tx, account, done.version, m.now,
                                {operations.begin(), operations.end()}, from.by);
    m.tell(events::version_appended{account, done.seq});
    if (from.purges) put_purges(tx, account, operations, done.seq);
    task_writer writer(tx, account, done.seq, from, m);
    for (auto& t : tasks.all()) writer.write(t);
    writer.append_own();
    done.numbered = writer.numbered();
    done.settled = writer.settled();
    done.cut = writer.cut();
    return done;
}

}  // namespace callsign::rules
