#include "changes.hpp"

#include "numbering.hpp"

namespace callsign::rules {
namespace {

// The version `seq` is appended; this brings the tasks to where it says, and the keys on them.
class task_writer {
  public:
    task_writer(write_tx& tx, account_id account, std::int64_t seq, const author& by,
                const moment& m)
        : tx_(tx), account_(account), seq_(seq), author_(by), moment_(m) {}

    void write(touched_tasks::touched& t) {
        if (t.is_new()) {
            put(t);
        } else if (t.before) {
            update(t);
        }
    }

    // The server's own version behind the other.
    void append_keys() {
        if (keys_.empty()) return;
        const auto seq =
            tx_.append_version(account_, moment_.ids.next(moment_.now), moment_.now, keys_);
        if (seq != seq_ + 1) throw_damaged("accounts", account_.value, "its head has moved");
        moment_.tell(events::version_appended{account_, seq});
    }

    std::int64_t numbered() const { return numbered_; }

  private:
    void put(touched_tasks::touched& t) {
        task made;
        made.account = account_;
        made.uuid = t.id;
        made.created_at = moment_.now;
        made.author = author_;
        const series_id series = give_number(tx_, made, project_of(t.now), moment_);
        made.numbered->seq = seq_;
        made.last_seq = correct_key(made, t.now);
        made.attributes = std::move(t.now);
        const task_id id = tx_.put_task(made, series);
        commit_waiting_slots(tx_, account_, t.id, id, moment_);
        ++numbered_;
    }

    void update(touched_tasks::touched& t) {
        // One that was only looked at stays as it is.
        if (!t.changed) return;
        const std::int64_t seq = t.there ? correct_key(*t.before, t.now) : seq_;
        tx_.update_task(*t.before, t.now, !t.there, seq, moment_.now);
    }

    // The seq of the last version that changes the task.
    std::int64_t correct_key(const task& numbered, attributes& now) {
        if (!numbered.numbered) return seq_;
        auto correction = rules::correct_key(numbered, now, moment_);
        if (!correction) return seq_;
        keys_.push_back(std::move(*correction));
        return seq_ + 1;
    }

    write_tx& tx_;
    account_id account_;
    std::int64_t seq_;
    author author_;
    const moment& moment_;
    std::vector<operation> keys_;
    std::int64_t numbered_ = 0;
};

}  // namespace

appended_changes append_changes(write_tx& tx, account_id account,
                                std::span<const operation> operations, touched_tasks& tasks,
                                const author& by, const moment& m) {
    appended_changes done;
    done.version = m.ids.next(m.now);
    done.seq = tx.append_version(account, done.version, m.now, operations, by);
    m.tell(events::version_appended{account, done.seq});
    task_writer writer(tx, account, done.seq, by, m);
    for (auto& t : tasks.all()) writer.write(t);
    writer.append_keys();
    done.numbered = writer.numbered();
    return done;
}

}  // namespace callsign::rules
