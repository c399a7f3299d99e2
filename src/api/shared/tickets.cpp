#include "tickets.hpp"

#include <algorithm>
#include <variant>

namespace callsign::api {

void tickets::put(std::string_view text, const principal& who) {
    erase_expired();
    const account_id owner = *who.account;
    if (counts_[owner] >= account_max) {
        erase(std::ranges::find_if(all_, [&](const entry& e) { return e.who.account == owner; }));
    }
    all_.push_back({sha256(text), who, clock_.elapsed() + valid_for});
    by_hash_.insert_or_assign(all_.back().hash, std::prev(all_.end()));
    ++counts_[owner];
}

std::optional<principal> tickets::take(std::string_view text) {
    erase_expired();
    const auto found = by_hash_.find(sha256(text));
    if (found == by_hash_.end()) return std::nullopt;
    principal who = found->second->who;
    erase(found->second);
    return who;
}

void tickets::follow(const event& happened) {
    const bool ends = std::holds_alternative<events::token_revoked>(happened) ||
                      std::holds_alternative<events::account_state_changed>(happened) ||
                      std::holds_alternative<events::account_removed>(happened);
    if (!ends) return;
    all_.clear();
    by_hash_.clear();
    counts_.clear();
}

void tickets::erase(entries::iterator at) {
    const auto count = counts_.find(*at->who.account);
    if (--count->second == 0) counts_.erase(count);
    by_hash_.erase(at->hash);
    all_.erase(at);
}

void tickets::erase_expired() {
    while (!all_.empty() && all_.front().until <= clock_.elapsed()) erase(all_.begin());
}

}  // namespace callsign::api
