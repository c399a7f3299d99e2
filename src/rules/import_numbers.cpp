// Imports numbers that another program assigned. All rows are checked first: with an error none is
// imported.

#include "numbering.hpp"
#include "resolve.hpp"
#include "unnumbered.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/rules/rules.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace callsign::rules {
namespace {

using row = import_numbers::row;
using rejection = import_numbers::fault_kind;

// A row that is to become a task.
struct wanted {
    const row* from;
    series of;
    std::string period;
    // The task's row, if it exists with the number but no content, which the import adds, or with
    // content but no number.
    std::optional<task> known{};
};

class number_import {
  public:
    number_import(write_tx& tx, account_id account, const import_numbers& c, const moment& m)
        : tx_(tx), account_(account), command_(c), moment_(m) {}

    // Checks each row as if the rows before it were imported.
    void look() {
        for (; at_ < command_.rows.size(); ++at_) look_at(command_.rows[at_]);
    }

    void write() {
        if (tasks_.empty()) return;
        const auto seq = accounts::head_of(tx_, account_).seq + 1;
        std::vector<operation> operations;
        for (const wanted& w : tasks_) put(w, seq, operations);
        const auto id = moment_.ids.next(moment_.now);
        const auto given = versions::append(tx_, account_, id, moment_.now, std::move(operations),
                                            command_.author);
        if (given != seq) throw_damaged("accounts", account_.value, "its head has moved");
        moment_.tell(events::version_appended{account_, seq});
    }

    std::vector<import_numbers::fault> faults;
    import_numbers::done done;

  private:
    void look_at(const row& r) {
        const auto of = all_series::find(tx_, account_, r.prefix);
        if (!of) return fault(rejection::unknown_prefix, r.prefix);
        if (of->archived) return fault(rejection::archived, of->prefix);
        if (r.created_at > moment_.now) return fault(rejection::in_the_future, {});
        std::string period = period_of(r.created_at, of->reset, of->time_zone);
        const auto key = [&](std::int64_t number) {
            return format_key(of->prefix, period, number);
        };
        const auto holder = tasks::find(tx_, of->id, period, r.number);
        if (holder && holder->uuid == r.uuid && is_unseen(*holder) &&
            uuids_.insert(r.uuid).second) {
            ++done.imported;
            tasks_.push_back({&r, *of, std::move(period), holder});
            return;
        }
        if (holder && holder->uuid == r.uuid) {
            ++done.there_already;
            return;
        }
        if (holder) return fault(rejection::number_taken, to_string(holder->uuid));
        auto known = tasks::find(tx_, account_, r.uuid);
        if (known && (known->numbered || known->purged)) {
            return fault(rejection::uuid_taken,
                         known->numbered ? current_key(*known) : std::string());
        }
        if (!uuids_.insert(r.uuid).second) return fault(rejection::uuid_taken, key(r.number));
        if (period < last_period_of(*of)) return fault(rejection::period_passed, key(r.number));
        std::int64_t& last = last_of(*of, period);
        if (command_.check_only) last = std::max(last, r.after);
        if (r.number <= last) return fault(rejection::number_taken, key(r.number));
        const std::int64_t first_missing = last + 1;
        last = r.number;
        // Which numbers of a held series were assigned is unknown.
        if (r.number > first_missing && !of->allows_gaps && !of->held) {
            return fault(rejection::gap, key(first_missing));
        }
        periods_[of->id] = period;
        ++done.imported;
        tasks_.push_back({&r, *of, std::move(period), std::move(known)});
    }

    std::int64_t& last_of(const series& of, const std::string& period) {
        const auto [known, fresh] = lasts_.try_emplace({of.id, period}, 0);
        if (fresh) known->second = numbers::last(tx_, of.id, period);
        return known->second;
    }

    const std::string& last_period_of(const series& of) {
        const auto [known, fresh] = periods_.try_emplace(of.id);
        if (fresh) known->second = numbers::last_period(tx_, of.id);
        return known->second;
    }

    void fault(rejection why, std::string key) { faults.push_back({at_, why, std::move(key)}); }

    void put(const wanted& w, std::int64_t seq, std::vector<operation>& operations) {
        const row& r = *w.from;
        const std::string entry = epoch_text(r.created_at);
        attributes content = {
            {"description", r.title}, {"entry", entry}, {"modified", entry}, {"status", "pending"}};
        if (w.known && w.known->numbered) {
            task t = *w.known;
            t.attributes = std::move(content);
            correct_key(t, t.attributes, moment_);
            append_creation(operations, t, moment_.wall);
            tasks::reveal(tx_, t.id, t.attributes, seq, seq);
            commit_waiting_slots(tx_, account_, t.uuid, t.id, moment_);
            return;
        }
        if (r.number > numbers::last(tx_, w.of.id, w.period) + 1) {
            numbers::skip(tx_, w.of.id, w.period, r.number - 1);
        }
        task t = w.known ? *w.known : task{};
        t.current_prefix = w.of.prefix;
        t.numbered = receipt{r.uuid, w.of.prefix,  w.period, numbers::take(tx_, w.of.id, w.period),
                             seq,    r.created_at, true};
        if (w.known) {
            if (auto key = correct_key(t, t.attributes, moment_)) operations.push_back(*key);
            return put_number(tx_, *w.known, t, w.of.id, moment_);
        }
        t.account = account_;
        t.uuid = r.uuid;
        t.created_at = r.created_at;
        t.author = command_.author;
        t.last_seq = seq;
        t.attributes = std::move(content);
        correct_key(t, t.attributes, moment_);
        append_creation(operations, t, moment_.wall);
        commit_waiting_slots(tx_, account_, t.uuid, tasks::put(tx_, t, w.of.id), moment_);
    }

    write_tx& tx_;
    account_id account_;
    const import_numbers& command_;
    const moment& moment_;
    std::vector<wanted> tasks_;
    std::map<std::pair<series_id, std::string>, std::int64_t> lasts_;
    std::map<series_id, std::string> periods_;
    std::set<uuid> uuids_;
    std::size_t at_ = 0;
};

}  // namespace

import_numbers::answer apply(write_tx& tx, const import_numbers& c, const moment& m) {
    const auto owner = resolve(tx, c.account);
    if (!owner) return no_such_account{};
    if (owner->mode == account_mode::opaque) return account_is_opaque{};
    if (owner->is_remote) return account_is_remote{};
    number_import all(tx, owner->id, c, m);
    all.look();
    if (!all.faults.empty()) return import_numbers::rejected{std::move(all.faults)};
    if (!c.check_only) all.write();
    return all.done;
}

}  // namespace callsign::rules
