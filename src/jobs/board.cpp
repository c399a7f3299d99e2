#include <callsign/jobs/board.hpp>

#include <algorithm>

namespace callsign::jobs {

std::size_t board::count(job_kind kind) const noexcept {
    return static_cast<std::size_t>(
        std::count_if(all_->begin(), all_->end(), [&](const entry* e) { return e->kind == kind; }));
}

std::optional<progress> board::find(job_kind kind, account_id account) const noexcept {
    for (const entry* e : *all_) {
        if (e->kind == kind && e->account == account) return e->now;
    }
    return std::nullopt;
}

bool board::cancel(job_kind kind, account_id account) noexcept {
    bool found = false;
    for (entry* e : *all_) {
        if (e->kind != kind || e->account != account) continue;
        e->cancelled = found = true;
    }
    return found;
}

}  // namespace callsign::jobs
