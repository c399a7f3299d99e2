#include "index/pending_slots.hpp"

#include "statements.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/ports/tables/slots.hpp>

#include <algorithm>

namespace callsign::sqlite {

void pending_slots::load() {
    {
        auto q = db_.use(sql::pending_through);
        if (!q.step()) throw_damaged("index_progress", 1, "does not exist");
        through_ = q.integer(0);
    }
    auto q = db_.use(sql::pending_behind);
    q.bind(through_);
    while (q.step()) {
        q.at("slots", q.integer(0));
        newest_.push_back({q.integer(0), account_id{q.integer(1)}, q.id(2)});
    }
}

void pending_slots::change() {
    if (changed_) return;
    was_ = newest_;
    was_through_ = through_;
    changed_ = true;
}

void pending_slots::add(slot_id id, account_id account, const uuid& task) {
    change();
    newest_.push_back({id.value, account, task});
}

void pending_slots::remove(slot_id id) {
    if (id.value <= through_) {
        db_.use(sql::pending_delete).bind(id).run();
        if (db_.database().getChanges() == 1) return;
        throw_damaged("pending_slots", id.value, "does not exist");
    }
    const auto found = std::ranges::lower_bound(newest_, id.value, {}, &entry::slot);
    if (found == newest_.end() || found->slot != id.value) {
        throw_damaged("slots", id.value, "it was not pending");
    }
    change();
    newest_.erase(found);
}

row_ptr pending_slots::fetch(connection& db, const index_info& index, const row_key& key) {
    const auto id = std::string_view(key).substr(key.size() - sizeof(std::int64_t));
    auto row = fetch_row(db, info_of<slots_by_id>(), row_key(id), false);
    return row && index.key_of(row.get()) == key ? row : nullptr;
}

row_page pending_slots::scan(connection& db, const pending_slots* writer, const row_range& range) {
    CALLSIGN_ASSERT(!range.descending);
    const std::int64_t after =
        range.after_parts > 0 ? key_reader(range.after).integer() : INT64_MIN;
    const std::int64_t limit = std::min<std::int64_t>(range.limit, page_rows_max);
    const auto wanted = task_of(range);
    std::vector<std::int64_t> ids;
    {
        auto q = db.use(wanted ? sql::pending_of_task : sql::pending_listed);
        if (wanted) q.bind(wanted->task).bind(wanted->account);
        q.bind(after).bind(limit + 1);
        while (q.step()) ids.push_back(q.integer(0));
    }
    pending_slots own(db, 0);
    if (!writer) own.load();
    for (const entry& e : (writer ? *writer : own).newest_) {
        const bool is_wanted = !wanted || (e.task == wanted->task && e.account == wanted->account);
        if (is_wanted && e.slot > after) ids.push_back(e.slot);
    }
    row_page page;
    for (const std::int64_t id : ids) {
        page.is_last = std::ssize(page.rows) < limit;
        if (!page.is_last) break;
        auto row = fetch_row(db, info_of<slots_by_id>(), key_of_id(id), false);
        const bool is_open = row && range.index->has(row.get());
        if (!is_open) throw_damaged("pending_slots", id, "there is no such slot that is open");
        page.rows.push_back(std::move(row));
    }
    return page;
}

std::optional<pending_slots::entry> pending_slots::task_of(const row_range& range) {
    if (range.prefix_parts == 0) return std::nullopt;
    CALLSIGN_ASSERT(range.prefix_parts == 2);
    entry wanted{};
    key_reader parts(range.prefix);
    std::ranges::copy(parts.bytes(sizeof(uuid)), wanted.task.begin());
    wanted.account.value = parts.integer();
    return wanted;
}

void pending_slots::prepare_commit(std::int64_t last_slot) {
    const auto window = static_cast<std::int64_t>(window_);
    if (last_slot - through_ < 2 * window) return;
    change();
    through_ = last_slot - window;
    const auto left = std::ranges::upper_bound(newest_, through_, {}, &entry::slot);
    for (auto e = newest_.begin(); e != left; ++e) {
        db_.use(sql::pending_put).bind(e->slot).bind(e->account).bind(e->task).run();
    }
    newest_.erase(newest_.begin(), left);
    db_.use(sql::set_pending_through).bind(through_).run();
}

void pending_slots::committed() noexcept {
    changed_ = false;
}

void pending_slots::roll_back() noexcept {
    if (!changed_) return;
    newest_.swap(was_);
    through_ = was_through_;
    changed_ = false;
}

}  // namespace callsign::sqlite
