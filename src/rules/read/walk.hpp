#pragma once
// Reads an account's tasks in the order of keys, up to a limit.

#include <callsign/domain/work.hpp>
#include <callsign/ports/store.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace callsign::rules {

inline std::size_t work_of_row(const task& t) {
    return work_of_task + work_of(t.attributes);
}

// Walks series by series, period by period, number by number, up or down, from a place on, so that
// no other account's tasks are read. A series' tasks without a number follow its last period.
class task_walk {
  public:
    struct options {
        bool descending = false;
        bool open_only = false;
        std::size_t work_max = 0;
        std::int64_t expected = rows_expected;
    };

    // Calls `visit(task, series)` for each task until it returns false.
    template <class Visit>
    task_walk(read_tx& tx, std::vector<series> all, const std::optional<task_place>& after,
              const options& o, Visit visit) {
        if (o.descending) std::reverse(all.begin(), all.end());
        bool is_begun = !after.has_value();
        for (const series& of : all) {
            if (!is_begun && of.id != after->series) continue;
            std::vector<std::string> periods = numbers::periods(tx, of.id);
            periods.emplace_back(task_place::unnumbered);
            if (o.descending) std::reverse(periods.begin(), periods.end());
            for (std::string& period : periods) {
                if (!is_begun && period != after->period) continue;
                const std::int64_t first = o.descending ? read_tx::no_limit : 0;
                at_ = {of.id, std::move(period), is_begun ? first : after->number};
                is_begun = true;
                if (!run(tx, o, visit)) return;
            }
        }
        is_done_ = true;
    }

    // Returns where to resume; none: the walk is complete.
    std::optional<task_place> next() && {
        if (is_done_) return std::nullopt;
        return std::move(at_);
    }

  private:
    // Returns false if the walk is to stop.
    template <class Visit>
    bool run(read_tx& tx, const options& o, Visit& visit) {
        bool more = true;
        const number_walk walk{at_.series,   at_.period,  at_.number,
                               o.descending, o.open_only, o.expected};
        const auto pass = [&](task&& t) {
            at_.number = t.numbered ? t.numbered->number : t.id.value;
            work_ += work_of_row(t);
            more = visit(std::move(t), at_.series) && work_ < o.work_max;
            return more;
        };
        if (at_.period == task_place::unnumbered) {
            tasks::visit_unnumbered(tx, walk, pass);
        } else {
            tasks::visit_numbered(tx, walk, pass);
        }
        return more;
    }

    task_place at_;
    std::size_t work_ = 0;
    bool is_done_ = false;
};

}  // namespace callsign::rules
