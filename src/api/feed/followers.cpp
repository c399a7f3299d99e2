#include "followers.hpp"

#include <callsign/base/assert.hpp>

#include <algorithm>

namespace callsign::api {

struct follower::all {
    struct own {
        std::vector<follower*> followers;
        std::int64_t latest = 0;  // announced while it had followers
    };
    std::unordered_map<account_id, own> of_accounts;
    std::size_t count = 0;
    bool stopped = false;
};

follower::follower(std::shared_ptr<all> among, const principal& who, clock& clock,
                   const boost::asio::any_io_executor& executor)
    : among_(std::move(among)), who_(who), clock_(clock), changed_(clock, executor) {
    auto& own = among_->of_accounts[*who_.account];
    latest_ = own.latest;
    place_ = own.followers.size();
    own.followers.push_back(this);
    ++among_->count;
}

follower::~follower() {
    const auto found = among_->of_accounts.find(*who_.account);
    auto& beside = found->second.followers;
    beside[place_] = beside.back();
    beside[place_]->place_ = place_;
    beside.pop_back();
    if (beside.empty()) among_->of_accounts.erase(found);
    --among_->count;
}

boost::asio::awaitable<void> follower::pause(milliseconds span) {
    co_await changed_.wait(changed_.now(), span);
}

boost::asio::awaitable<void> follower::wait_beyond(std::int64_t seq, milliseconds span) {
    if (latest_ > seq || ended() != end::none) co_return;
    if (who_.expires_at) {
        const auto left = std::max(milliseconds{0}, *who_.expires_at - clock_.now());
        span = std::min(span, left);
    }
    co_await changed_.wait(changed_.now(), span);
}

follower::end follower::ended() const {
    if (among_->stopped) return end::stopping;
    if (ended_ != end::none) return ended_;
    const bool expired = who_.expires_at && *who_.expires_at <= clock_.now();
    return expired ? end::token_expired : end::none;
}

followers::followers(clock& clock, const feed_options& options)
    : clock_(clock), options_(options), all_(std::make_shared<follower::all>()) {}

followers::~followers() = default;

std::shared_ptr<follower> followers::join(const principal& who,
                                          const boost::asio::any_io_executor& executor) {
    CALLSIGN_ASSERT(who.account);
    const auto beside = all_->of_accounts.find(*who.account);
    const std::size_t own = beside == all_->of_accounts.end() ? 0 : beside->second.followers.size();
    if (all_->count >= options_.followers_max || own >= options_.account_followers_max) {
        return nullptr;
    }
    return std::shared_ptr<follower>(new follower(all_, who, clock_, executor));
}

void followers::follow(const event& happened) {
    if (const auto* const changed = std::get_if<events::version_appended>(&happened)) {
        const auto found = all_->of_accounts.find(changed->account);
        if (found == all_->of_accounts.end()) return;
        found->second.latest = changed->seq;
        for (follower* const each : found->second.followers) {
            each->latest_ = changed->seq;
            each->wake();
        }
    } else if (const auto* const closed = std::get_if<events::account_state_changed>(&happened)) {
        const auto found = all_->of_accounts.find(closed->account);
        if (found == all_->of_accounts.end()) return;
        for (follower* const each : found->second.followers) {
            each->ended_ = follower::end::account_closed;
            each->wake();
        }
    } else if (const auto* const revoked = std::get_if<events::token_revoked>(&happened)) {
        if (!revoked->account) return;
        const auto found = all_->of_accounts.find(*revoked->account);
        if (found == all_->of_accounts.end()) return;
        for (follower* const each : found->second.followers) {
            if (each->who_.token != revoked->token) continue;
            each->ended_ = follower::end::token_revoked;
            each->wake();
        }
    }
}

void followers::stop() {
    all_->stopped = true;
    for (const auto& [account, own] : all_->of_accounts) {
        for (follower* const each : own.followers) each->wake();
    }
}

std::size_t followers::count() const noexcept {
    return all_->count;
}

}  // namespace callsign::api
