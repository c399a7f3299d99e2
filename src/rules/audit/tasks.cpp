#include "audit/parts.hpp"
#include "numbering.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/task_faults.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <algorithm>
#include <boost/functional/hash.hpp>
#include <map>
#include <utility>

namespace callsign::rules::auditing {
namespace {

// Few, because tasks may be large.
constexpr std::int64_t tasks_at_once = 32;

class task_audit {
  public:
    task_audit(read_tx& tx, findings& found, subject& s, tally& all)
        : tx_(tx), found_(found), s_(s), all_(all) {}

    void run() {
        for (const series& from : all_series::of(tx_, s_.owner.id)) {
            prefixes_.clear();
            skipped_ = numbers::skipped(tx_, from.id);
            const auto all = numbers::given(tx_, from.id);
            for (const numbers_given& given : all) count(from, given);
            if (from.period == (all.empty() ? std::string() : all.back().period)) continue;
            found_.fault(proofs::numbers,
                         s_.who + from.prefix + ": its last period is not '" + from.period + "'");
        }
    }

  private:
    void count(const series& from, const numbers_given& given) {
        std::int64_t seen = 0, last = 0;
        bool all_known = true, is_run = true;
        const std::string run =
            s_.who + from.prefix + (given.period.empty() ? "" : "-" + given.period);
        // Numbers of this period that were skipped on purpose.
        std::vector<numbers_skipped> gaps;
        std::ranges::copy_if(skipped_, std::back_inserter(gaps), [&](const numbers_skipped& gap) {
            return gap.period == given.period;
        });
        auto gap = gaps.begin();
        const auto pass_gaps = [&] {
            for (; gap != gaps.end() && gap->first == last + 1; ++gap) last = gap->last;
        };
        const auto is_there = [&](std::int64_t number) {
            pass_gaps();
            ++seen;
            is_run = is_run && number == last + 1;
            last = number;
        };
        each_row(
            tasks_at_once,
            [&](std::int64_t after, std::int64_t limit) {
                return tasks::numbered(tx_, from.id, given.period, after, limit);
            },
            [](const task& t) { return t.numbered ? t.numbered->number : 0; },
            [&](const task& t) {
                is_there(t.numbered->number);
                see(from, t);
            },
            [&](std::int64_t before, std::int64_t to, const std::string& why) {
                // Numbers are contiguous, so a single unreadable place is a number.
                const bool is_one = to - std::max<std::int64_t>(before, 0) == 1;
                if (is_one) is_there(to);
                all_known = all_known && is_one;
                s_.all_tasks_read = false;
                found_.unreadable(proofs::numbers, run + ": numbers" + between(before, to) +
                                                       " cannot be read: " + why);
            });
        pass_gaps();
        is_run = is_run && last == given.last_number && gap == gaps.end();
        if (is_run || !all_known) return;
        found_.fault(proofs::numbers, run + ": last number " + std::to_string(given.last_number) +
                                          ", but " + std::to_string(seen) +
                                          " tasks with numbers up to " + std::to_string(last) +
                                          " and " + std::to_string(gaps.size()) +
                                          " intentional gaps");
    }

    void see(const series& from, const task& t) {
        const receipt& r = *t.numbered;
        all_.tasks.push_back(mark_of(t.id, t.account, t.uuid));
        const bool is_own = t.account == s_.owner.id;
        if (!is_own || !has_prefix(from, r.prefix)) {
            found_.fault(proofs::counted,
                         s_.who + "task " + to_string(t.uuid) + ": number " +
                             std::to_string(r.number) + " of series " +
                             std::to_string(from.id.value) +
                             (is_own ? ", which has no prefix " + r.prefix
                                     : ", and its account is " + std::to_string(t.account.value)));
        }
        if (t.last_seq < r.seq) {
            found_.fault(proofs::every_task, s_.who + "task " + to_string(t.uuid) + ": seq " +
                                                 std::to_string(r.seq) + ", last changed at " +
                                                 std::to_string(t.last_seq));
        }
        if (!t.purged && is_incomplete(t.attributes)) {
            found_.incomplete({s_.owner.name, current_key(t), t.uuid}, t.created_at);
        }
        if (is_own) s_.tasks.push_back(keep(t));
    }

    // Unreadable rows count as correct: they are reported elsewhere.
    bool has_prefix(const series& from, const std::string& prefix) {
        const auto known = prefixes_.find(prefix);
        if (known != prefixes_.end()) return known->second;
        bool has = true;
        try {
            const auto meant = all_series::find(tx_, s_.owner.id, prefix);
            has = meant && meant->id == from.id;
        } catch (const store_failure&) {
            // Unknown.
        }
        return prefixes_.emplace(prefix, has).first->second;
    }

    read_tx& tx_;
    findings& found_;
    subject& s_;
    tally& all_;
    std::map<std::string, bool, std::less<>> prefixes_;  // of the current series
    std::vector<numbers_skipped> skipped_;               // of the current series
};

}  // namespace

kept_task keep(const task& t) {
    return {t.uuid,
            t.numbered ? t.numbered->seq : 0,
            t.last_seq,
            hash_of(t.attributes),
            t.numbered.has_value(),
            t.purged,
            false};
}

std::size_t hash_of(const attributes& all) {
    std::size_t hash = 0;
    for (const auto& [name, value] : all) {
        boost::hash_combine(hash, keyed_hash{}(name));
        boost::hash_combine(hash, keyed_hash{}(value));
    }
    return hash;
}

std::size_t mark_of(task_id id, account_id account, const uuid& uuid) {
    std::size_t mark = 0;
    boost::hash_combine(mark, id.value);
    boost::hash_combine(mark, account.value);
    boost::hash_combine(mark, keyed_hash{}(uuid));
    return mark;
}

looked_up look_up(read_tx& tx, account_id account, const uuid& id) {
    try {
        return {true, tasks::find(tx, account, id)};
    } catch (const store_failure&) {
        return {false, {}};
    }
}

std::string between(std::int64_t from, std::int64_t to) {
    std::string text = from < 0 ? " from the beginning" : " after " + std::to_string(from);
    if (to != no_more) text += " and before " + std::to_string(to + 1);
    return text;
}

void look_at_tasks(read_tx& tx, findings& found, subject& s, tally& all) {
    try {
        task_audit(tx, found, s, all).run();
    } catch (const store_failure& failure) {
        s.all_tasks_read = false;
        found.unreadable(proofs::numbers, s.who + "cannot be read to its end: " + failure.what());
    }
    std::ranges::sort(s.tasks, {}, &kept_task::uuid);
}

}  // namespace callsign::rules::auditing
