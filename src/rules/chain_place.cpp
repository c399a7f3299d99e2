#include "chain_place.hpp"

#include <iterator>
#include <utility>

namespace callsign::rules {
namespace {

// A stretch of the chain: the versions after `after`, up to `to`.
struct stretch {
    std::int64_t after = 0;
    std::int64_t to = 0;
};

class missed_list {
  public:
    // False: more than may be missed. One version at a time, for each may be a large one.
    bool append(read_tx& tx, account_id account, stretch s) {
        for (; s.after < s.to; ++s.after) {
            auto next = tx.versions(account, s.after, 1);
            if (next.empty() || !append(std::move(next.front().operations))) return false;
        }
        return true;
    }

    bool append(std::vector<operation> more) {
        for (const operation& o : more) {
            bytes_ += sizeof o + o.property.size() + (o.value ? o.value->size() : 0);
        }
        std::move(more.begin(), more.end(), std::back_inserter(all_));
        return all_.size() <= add_version::missed_operations_max &&
               bytes_ <= add_version::missed_bytes_max;
    }

    std::vector<operation> take() { return std::move(all_); }

  private:
    std::vector<operation> all_;
    std::size_t bytes_ = 0;
};

}  // namespace

std::optional<chain_place> place_of(read_tx& tx, account_id account, const uuid& version) {
    if (const auto seq = tx.find_version_seq(account, version)) {
        return chain_place{*seq, *seq, std::nullopt};
    }
    if (auto side = tx.find_side_version(account, version)) {
        return chain_place{side->seq, side->left_at, std::move(side)};
    }
    // Nil, but for a chain that was begun on another server before it was sealed here.
    const auto first = tx.versions(account, 0, 1);
    const uuid begin = first.empty() ? uuid{} : first.front().parent;
    if (version == begin) return chain_place{};
    return std::nullopt;
}

std::optional<std::vector<operation>> missed_at(read_tx& tx, account_id account,
                                                const chain_place& place, std::int64_t seq) {
    // Backwards to where it is said in full: a side version with operations, or the chain.
    std::vector<stretch> stretches{{place.seq, seq}};
    missed_list missed;
    std::optional<side_version> side = place.side;
    while (side && !side->operations) {
        auto before = place_of(tx, account, side->parent);
        if (!before) return std::nullopt;
        stretches.push_back({before->seq, side->seq - 1});
        side = std::move(before->side);
    }
    if (side && !missed.append(std::move(*side->operations))) return std::nullopt;
    for (auto s = stretches.rbegin(); s != stretches.rend(); ++s) {
        if (!missed.append(tx, account, *s)) return std::nullopt;
    }
    return missed.take();
}

}  // namespace callsign::rules
