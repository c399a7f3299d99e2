#include "chain_place.hpp"

#include <algorithm>
#include <utility>

namespace callsign::rules {
namespace {

// A stretch of the chain: the versions after `after`, up to `to`.
struct stretch {
    std::int64_t after = 0;
    std::int64_t to = 0;
};

// False: more than may be missed.
bool append(read_tx& tx, account_id account, stretch s, std::vector<operation>& missed) {
    constexpr std::int64_t page = 100;
    while (s.after < s.to) {
        for (version& v : tx.versions(account, s.after, std::min(page, s.to - s.after))) {
            std::move(v.operations.begin(), v.operations.end(), std::back_inserter(missed));
            s.after = v.seq;
        }
        if (missed.size() > add_version::missed_operations_max) return false;
    }
    return true;
}

}  // namespace

std::optional<chain_place> place_of(read_tx& tx, account_id account, const uuid& version) {
    if (version.is_nil()) return chain_place{};
    if (const auto seq = tx.find_version_seq(account, version)) {
        return chain_place{*seq, *seq, std::nullopt};
    }
    if (auto side = tx.find_side_version(account, version)) {
        return chain_place{side->seq, side->left_at, std::move(side)};
    }
    return std::nullopt;
}

std::optional<std::vector<operation>> missed_at(read_tx& tx, account_id account,
                                                const chain_place& place, std::int64_t seq) {
    // Backwards to where it is said in full: a side version with operations, or the chain.
    std::vector<stretch> stretches{{place.seq, seq}};
    std::vector<operation> missed;
    std::optional<side_version> side = place.side;
    while (side && !side->operations) {
        auto before = place_of(tx, account, side->parent);
        if (!before) return std::nullopt;
        stretches.push_back({before->seq, side->seq - 1});
        side = std::move(before->side);
    }
    if (side) missed = std::move(*side->operations);
    for (auto s = stretches.rbegin(); s != stretches.rend(); ++s) {
        if (!append(tx, account, *s, missed)) return std::nullopt;
    }
    return missed;
}

}  // namespace callsign::rules
