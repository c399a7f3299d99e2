#include "pending_slots.hpp"

#include "statements.hpp"

#include <algorithm>

namespace callsign::sqlite {

void pending_slots::load() {
    {
        auto q = db_.use(sql::pending_through);
        if (!q.step()) throw_damaged("totals", 1, "it is not there");
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
        throw_damaged("pending_slots", id.value, "it is not there");
    }
    const auto found = std::ranges::lower_bound(newest_, id.value, {}, &entry::slot);
    if (found == newest_.end() || found->slot != id.value) {
        throw_damaged("slots", id.value, "it was not pending");
    }
    change();
    newest_.erase(found);
}

std::vector<slot_id> pending_slots::waiting_for(account_id account, const uuid& task) {
    std::vector<slot_id> found;
    auto q = db_.use(sql::pending_of_task);
    q.bind(task).bind(account);
    while (q.step()) found.push_back(slot_id{q.integer(0)});
    for (const entry& e : newest_) {
        if (e.task == task && e.account == account) found.push_back(slot_id{e.slot});
    }
    return found;
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
