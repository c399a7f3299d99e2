#pragma once
// What both kinds of transaction can be asked, over one state.

#include "state.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/ports/store.hpp>
#include <callsign/ports/tables/series.hpp>

#include <algorithm>
#include <boost/range/adaptor/reversed.hpp>

namespace callsign::memory {

template <class Iterator, class Visit>
void visit_while(Iterator first, Iterator last, const Visit& visit) {
    while (first != last && visit(*first)) ++first;
}

// Base is read_tx or write_tx.
template <class Base>
class reads_over : public Base {
  public:
    explicit reads_over(std::shared_ptr<state> view) : state_(std::move(view)) {}

    row_ptr fetch(const index_info& index, const row_key& key, bool head) override {
        return worked(index, state_->rows.fetch(index, key), head);
    }
    row_page scan(const row_range& range) override {
        row_page page = state_->rows.scan(range);
        for (const row_ptr& row : page.rows) worked(*range.index, row, range.heads);
        return page;
    }

    std::optional<task> find_task(account_id account, const uuid& id) override {
        const auto* row = find(state_->task_uuids, {account, id});
        return row ? std::optional(shown(*state_->tasks.at(*row))) : std::nullopt;
    }
    std::optional<task> find_task(series_id series, std::string_view period,
                                  std::int64_t number) override {
        const auto* row = find(state_->task_numbers, {series, std::string(period), number});
        return row ? std::optional(shown(*state_->tasks.at(*row))) : std::nullopt;
    }
    std::optional<task> find_task_head(account_id account, const uuid& id) override {
        const auto* row = find(state_->task_uuids, {account, id});
        return row ? std::optional(without_attributes(*state_->tasks.at(*row))) : std::nullopt;
    }
    std::optional<task> find_task_head(series_id series, std::string_view period,
                                       std::int64_t number) override {
        const auto* row = find(state_->task_numbers, {series, std::string(period), number});
        return row ? std::optional(without_attributes(*state_->tasks.at(*row))) : std::nullopt;
    }
    std::optional<task> find_task_as_of(account_id account, const uuid& id,
                                        std::int64_t seq) override {
        auto found = find_task(account, id);
        if (!found || found->last_seq <= seq) return found;
        const auto after = state_->history.upper_bound({found->id, seq});
        if (after == state_->history.begin()) return std::nullopt;
        const auto& [key, past] = *std::prev(after);
        if (key.first != found->id) return std::nullopt;
        found->attributes = past->task.attributes;
        found->purged = past->task.purged;
        found->last_seq = key.second;
        return found;
    }
    std::vector<task> unnumbered_tasks(task_id after, std::int64_t limit) override {
        std::vector<task> some;
        for (auto at = state_->tasks.upper_bound(after);
             at != state_->tasks.end() && std::ssize(some) < limit; ++at) {
            if (!at->second->task.numbered) some.push_back(shown(*at->second));
        }
        return some;
    }
    void visit_numbered(const number_walk& walk, const task_visitor& visit) override {
        const auto& all = state_->task_numbers;
        const std::string in(walk.period);
        const auto go_on = [&](const auto& entry) {
            const bool is_there =
                std::get<0>(entry.first) == walk.series && std::get<1>(entry.first) == in;
            if (!is_there) return false;
            const stored_task& kept = *state_->tasks.at(entry.second);
            const bool is_open = !kept.task.purged && !is_over(kept.task.attributes);
            return (walk.open_only && !is_open) || visit(shown(kept));
        };
        if (walk.descending) {
            const auto from = all.lower_bound({walk.series, in, walk.from});
            visit_while(std::reverse_iterator(from), std::reverse_iterator(all.begin()), go_on);
        } else {
            visit_while(all.upper_bound({walk.series, in, walk.from}), all.end(), go_on);
        }
    }
    void visit_unnumbered(const number_walk& walk, const task_visitor& visit) override {
        const auto go_on = [&](const auto& entry) {
            const stored_task& kept = *entry.second;
            if (kept.series != walk.series || kept.task.numbered) return true;
            const bool is_open = !kept.task.purged && !is_over(kept.task.attributes);
            return (walk.open_only && !is_open) || visit(shown(kept));
        };
        const auto& all = state_->tasks;
        if (walk.descending) {
            const auto from = all.lower_bound(task_id{walk.from});
            visit_while(std::reverse_iterator(from), std::reverse_iterator(all.begin()), go_on);
        } else {
            visit_while(all.upper_bound(task_id{walk.from}), all.end(), go_on);
        }
    }

    std::optional<slot> find_slot(account_id account, std::string_view key) override {
        const auto* id = find(state_->slot_keys, {account, std::string(key)});
        return id ? std::optional(*state_->slots.at(*id)) : std::nullopt;
    }
    std::optional<slot> find_slot(slot_id id) override { return copy(find(state_->slots, id)); }
    std::vector<slot> slots(slot_id after, std::int64_t limit, std::optional<slot_state> wanted,
                            std::optional<account_id> account) override {
        std::vector<slot> some;
        for (auto at = state_->slots.upper_bound(after);
             at != state_->slots.end() && std::ssize(some) < limit; ++at) {
            const slot& s = *at->second;
            if ((!wanted || s.state == *wanted) && (!account || s.account == *account)) {
                some.push_back(s);
            }
        }
        return some;
    }
    std::optional<receipt> find_receipt(const slot& committed) override {
        if (!committed.task) return std::nullopt;
        const auto* found = find(state_->tasks, *committed.task);
        if (!found) return std::nullopt;
        auto given = (*found)->task.numbered;
        if (given) given->created = committed.created;
        return given;
    }

  protected:
    // A reader's is the committed one, which is shared: it is only asked, never told.
    std::shared_ptr<state> state_;
    std::size_t work_ = 0;

    void worked(const attributes& all) { work_ += work_of(all); }
    row_ptr worked(const index_info& index, row_ptr row, bool head) {
        if (row && !head) work_ += index.table->work_of(row.get());
        return row;
    }

  private:
    task without_attributes(const stored_task& kept) {
        task t = kept.task;
        t.attributes = attributes{};
        t.author = {};
        t.current_prefix = this->template expect<series_by_id>(kept.series)->prefix;
        return t;
    }
    task shown(const stored_task& kept) {
        worked(kept.task.attributes);
        task t = kept.task;
        t.current_prefix = this->template expect<series_by_id>(kept.series)->prefix;
        return t;
    }
};

}  // namespace callsign::memory
