#include <callsign/domain/sealed.hpp>

#include <algorithm>

namespace callsign {
namespace {

// 1.5 times the limit in whole numbers, as the reference server computes it.
snapshot_urgency graded(std::int64_t measured, std::int64_t limit) noexcept {
    if (measured >= limit * 3 / 2) return snapshot_urgency::high;
    return measured >= limit ? snapshot_urgency::low : snapshot_urgency::none;
}

}  // namespace

snapshot_urgency urgency_for_days(const snapshot_policy& policy, std::int64_t days) noexcept {
    return graded(days, policy.days);
}

snapshot_urgency urgency_for_versions(const snapshot_policy& policy,
                                      std::int64_t versions) noexcept {
    return graded(versions, policy.versions);
}

snapshot_urgency urgency_of(const snapshot_policy& policy,
                            const std::optional<snapshot_age>& snapshot) noexcept {
    if (!snapshot) return snapshot_urgency::high;
    const std::int64_t days = std::chrono::duration_cast<std::chrono::days>(snapshot->age).count();
    return std::max(urgency_for_days(policy, days),
                    urgency_for_versions(policy, snapshot->versions));
}

}  // namespace callsign
