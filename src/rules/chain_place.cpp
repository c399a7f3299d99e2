#include "chain_place.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/forks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace callsign::rules {
namespace {

// The last bytes of a fork version's ID are zero. In the IDs of the places on its way back they
// hold the seq up to which the chain was read.
constexpr std::size_t seq_bytes = 5;

uuid name_on_the_way(uuid side, std::int64_t seq) noexcept {
    for (std::size_t i = 0; i < seq_bytes; ++i) {
        side.data[15 - i] = static_cast<std::uint8_t>(seq >> (8 * i));
    }
    return side;
}

std::int64_t seq_of(const uuid& name) noexcept {
    std::int64_t seq = 0;
    for (std::size_t i = 16 - seq_bytes; i < 16; ++i) seq = seq << 8 | name.data[i];
    return seq;
}

// Returns the last of the device's own versions that follow `seq` contiguously, or `seq` if there
// are none. Advances `own` past them.
std::int64_t pass_own(std::vector<std::int64_t>::const_iterator& own,
                      std::vector<std::int64_t>::const_iterator end, std::int64_t seq) {
    for (; own != end && *own <= seq + 1; ++own) seq = std::max(seq, *own);
    return seq;
}

std::optional<chain_place> place_beside(fork_version side, std::int64_t read_to) {
    chain_place place;
    auto own = side.own.cbegin();
    place.left_at = pass_own(own, side.own.cend(), std::max(side.left_at, read_to));
    // Past its own versions the device is on the chain, whose version IDs apply.
    if (own == side.own.cend()) return std::nullopt;
    place.own.assign(own, side.own.cend());
    const auto dropped = std::upper_bound(
        side.dropped.begin(), side.dropped.end(), place.left_at,
        [](std::int64_t seq, const chain_position& position) { return seq < position.seq; });
    place.dropped.assign(dropped, side.dropped.end());

    const std::int64_t next = place.left_at + 1;
    pass_own(own, side.own.cend(), next);
    const bool is_back = own == side.own.cend();
    place.after_next = is_back ? side.back : name_on_the_way(side.id, next);
    return place;
}

constexpr std::size_t variant_byte = 8;
constexpr std::uint8_t push_first_bit = 0x40;
constexpr std::size_t version_byte = 6;
constexpr std::uint8_t twin_bit = 0x80;

}  // namespace

uuid push_first_name(uuid version) noexcept {
    if (is_push_first_name(version)) version.data[version_byte] ^= twin_bit;
    version.data[variant_byte] |= push_first_bit;
    return version;
}

bool is_push_first_name(const uuid& name) noexcept {
    return (name.data[variant_byte] & push_first_bit) != 0;
}

uuid version_of_name(uuid name) noexcept {
    name.data[variant_byte] &= static_cast<std::uint8_t>(~push_first_bit);
    name.data[version_byte] &= static_cast<std::uint8_t>(~twin_bit);
    return name;
}

uuid fork_name(uuid drawn) noexcept {
    return name_on_the_way(drawn, 0);
}

uuid name_of_fork(const fork_version& side) noexcept {
    return name_on_the_way(side.id, side.left_at);
}

std::optional<std::int64_t> pass_own(chain_place& place) {
    auto own = place.own.cbegin();
    place.left_at = pass_own(own, place.own.cend(), place.left_at);
    place.own.erase(place.own.cbegin(), own);
    if (place.own.empty()) return place.left_at;
    return std::nullopt;
}

std::optional<chain_place> place_of(read_tx& tx, account_id account, const uuid& version) {
    if (const auto seq = versions::find_seq(tx, account, version))
        return chain_place{*seq, {}, {}, {}};
    if (auto side = forks::find(tx, account, fork_name(version))) {
        return place_beside(std::move(*side), seq_of(version));
    }
    if (is_push_first_name(version)) {
        const uuid named = version_of_name(version);
        if (auto place = place_of(tx, account, named)) return place;
        // The fork version has expired. Pulling the whole chain from there leads to the same state.
        if (seq_of(named) > accounts::head_of(tx, account).seq) return std::nullopt;
        return chain_place{seq_of(named), {}, {}, {}};
    }
    // Nil, unless the chain began on another server and was sealed here.
    const auto first = versions::some(tx, account, 0, 1);
    const uuid begin = first.empty() ? uuid{} : first.front().parent;
    if (version == begin) return chain_place{};
    return std::nullopt;
}

version version_at(read_tx& tx, account_id account, std::int64_t seq) {
    auto found = versions::some(tx, account, seq - 1, 1);
    if (found.empty() || found.front().seq != seq) {
        throw_damaged("accounts", account.value, "its chain has a hole");
    }
    return std::move(found.front());
}

void leave_out_dropped(const chain_place& place, std::vector<operation>& all) {
    auto dropped = place.dropped.begin();
    chain_position at{place.left_at + 1, 0};
    std::erase_if(all, [&](const operation&) {
        const bool gone = dropped != place.dropped.end() && *dropped == at;
        if (gone) ++dropped;
        ++at.index;
        return gone;
    });
}

bool lacks(const chain_place& place, const chain_position& position) noexcept {
    return position.seq > place.left_at && !std::ranges::binary_search(place.own, position.seq) &&
           !std::ranges::binary_search(place.dropped, position);
}

missed_changes read_missed(read_tx& tx, account_id account, device_id device,
                           const chain_place& place, const can_meet& sent, std::int64_t after,
                           std::int64_t to, std::size_t work_max) {
    missed_changes missed;
    missed.through = std::max(after, place.left_at);
    while (missed.through < to && missed.read_bytes < work_max) {
        const std::int64_t seq = ++missed.through;
        if (std::ranges::binary_search(place.own, seq)) continue;
        // One at a time, because versions may be large.
        version next = version_at(tx, account, seq);
        missed.read_bytes += work_of(next);
        if (next.author == author{device}) missed.own.push_back(seq);
        chain_position at{seq, 0};
        for (operation& o : next.operations) {
            if (sent(o)) {
                missed.bytes += work_of(o);
                missed.operations.push_back(std::move(o));
                missed.places.push_back(at);
            }
            ++at.index;
        }
    }
    return missed;
}

}  // namespace callsign::rules
