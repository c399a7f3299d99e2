#include "rate_limits.hpp"

#include <algorithm>

namespace callsign::api {

rate_limits::state rate_limits::take(account_id account, milliseconds now_ms) {
    using std::chrono::ceil;
    using std::chrono::seconds;
    const nanoseconds now = now_ms;
    const nanoseconds one = nanoseconds{window} / quota_;
    if (full_at_.size() >= known_max) forget_idle(now);
    nanoseconds& full_at = full_at_[account];
    const nanoseconds used = std::max(full_at - now, nanoseconds::zero());
    state s;
    s.allowed = used + one <= nanoseconds{window};
    if (s.allowed) full_at = now + used + one;
    const nanoseconds in_use = full_at - now;
    s.remaining = std::max<std::int64_t>(0, (nanoseconds{window} - in_use) / one);
    s.full_in = ceil<seconds>(in_use);
    if (!s.allowed) s.retry_in = ceil<seconds>(in_use + one - nanoseconds{window});
    return s;
}

void rate_limits::forget_idle(nanoseconds now) {
    std::erase_if(full_at_, [&](const auto& each) { return each.second <= now; });
}

std::string rate_limits::policy() const {
    return "\"account\";q=" + std::to_string(quota_) + ";w=60";
}

std::string rate_limits::field_of(const state& s) {
    return "\"account\";r=" + std::to_string(s.remaining) +
           ";t=" + std::to_string(s.full_in.count());
}

}  // namespace callsign::api
