#include "tickets.hpp"

#include <iterator>
#include <variant>

namespace callsign::api {

void tickets::put(std::string_view text, const principal& who) {
    erase_expired();
    const auto its = by_token_.find(who.token);
    if (its != by_token_.end() && its->second.size() >= token_max) erase(its->second.front());
    all_.push_back({sha256(text), who, clock_.elapsed() + valid_for});
    by_hash_.insert_or_assign(all_.back().hash, std::prev(all_.end()));
    by_token_[who.token].push_back(std::prev(all_.end()));
}

std::optional<principal> tickets::find(std::string_view text) {
    const auto found = look_up(text);
    return found == all_.end() ? std::nullopt : std::optional(found->who);
}

std::optional<principal> tickets::take(std::string_view text) {
    const auto found = look_up(text);
    if (found == all_.end()) return std::nullopt;
    principal who = found->who;
    erase(found);
    return who;
}

void tickets::follow(const event& happened) {
    const auto end_those = [&](const auto& has_ended) {
        for (auto at = all_.begin(); at != all_.end();) {
            const auto each = at++;
            if (has_ended(each->who)) erase(each);
        }
    };
    if (const auto* const token = std::get_if<events::token_revoked>(&happened)) {
        end_those([&](const principal& who) { return who.token == token->token; });
    } else if (const auto* const state = std::get_if<events::account_state_changed>(&happened)) {
        end_those([&](const principal& who) { return who.account == state->account; });
    } else if (const auto* const gone = std::get_if<events::account_removed>(&happened)) {
        end_those([&](const principal& who) { return who.account == gone->account; });
    }
}

tickets::entries::iterator tickets::look_up(std::string_view text) {
    erase_expired();
    const auto found = by_hash_.find(sha256(text));
    return found == by_hash_.end() ? all_.end() : found->second;
}

void tickets::erase(entries::iterator at) {
    const auto its = by_token_.find(at->who.token);
    std::erase(its->second, at);
    if (its->second.empty()) by_token_.erase(its);
    by_hash_.erase(at->hash);
    all_.erase(at);
}

void tickets::erase_expired() {
    while (!all_.empty() && all_.front().until <= clock_.elapsed()) erase(all_.begin());
}

}  // namespace callsign::api
