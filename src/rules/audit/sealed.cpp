#include "audit/parts.hpp"

#include <callsign/rules/rows/sealed.hpp>

#include <algorithm>

namespace callsign::rules::auditing {
namespace {

void look_at_order(findings& found, const subject& s, std::span<const sealed_link> links) {
    const auto count = std::ssize(links);
    const std::int64_t end = s.owner.head.seq;
    const std::int64_t first = links.empty() ? 0 : links.front().seq;
    const std::int64_t last = links.empty() ? 0 : links.back().seq;
    const bool is_twice = std::ranges::adjacent_find(links, {}, &sealed_link::seq) != links.end();
    if (count != end || last != end || (end > 0 && first != 1) || is_twice) {
        found.fault(proofs::seqs, s.who + "head at " + std::to_string(end) + ", but " +
                                      std::to_string(count) + " versions " + std::to_string(first) +
                                      ".." + std::to_string(last));
    }
    for (std::size_t i = 1; i < links.size(); ++i) {
        if (links[i].parent == links[i - 1].id) continue;
        found.fault(
            proofs::sealed_parents,
            s.who + "sealed version " + std::to_string(links[i].seq) + " has another parent");
    }
    if (s.owner.head.version != (links.empty() ? uuid{} : links.back().id)) {
        found.fault(proofs::sealed_parents, s.who + "the head is not its last sealed version");
    }
}

template <class Say>
void find_equal(std::vector<uuid> ids, Say say) {
    std::ranges::sort(ids);
    for (auto at = ids.begin(); at != ids.end();) {
        const auto end = std::upper_bound(at, ids.end(), *at);
        if (end - at > 1) say(to_string(*at), std::to_string(end - at));
        at = end;
    }
}

void look_at_ids(findings& found, const subject& s, std::span<const sealed_link> links) {
    std::vector<uuid> ids, parents;
    for (const sealed_link& link : links) {
        ids.push_back(link.id);
        parents.push_back(link.parent);
    }
    find_equal(std::move(ids), [&](const std::string& id, const std::string& times) {
        found.fault(proofs::sealed_once, s.who + "version " + id + " occurs " + times + " times");
    });
    find_equal(std::move(parents), [&](const std::string& id, const std::string& times) {
        found.fault(proofs::sealed_once, s.who + "version " + id + " has " + times + " children");
    });
}

// The seq of a snapshot is that of its version's child less one; without a child, the head's; on a
// chain without versions, 0.
void look_at_snapshot(read_tx& tx, findings& found, const subject& s,
                      std::span<const sealed_link> links) {
    const auto mark = snapshots::find_mark(tx, s.owner.id);
    if (!mark) return;
    if (links.empty() && mark->seq == 0) return;
    const auto child = std::ranges::find(links, mark->version, &sealed_link::parent);
    const bool is_right = child != links.end() ? child->seq - 1 == mark->seq
                                               : (s.owner.head.version == mark->version &&
                                                  s.owner.head.seq == mark->seq);
    if (!is_right) found.fault(proofs::snapshots, s.who + "the snapshot is of an unknown version");
}

}  // namespace

void look_at_sealed_chain(read_tx& tx, findings& found, const subject& s,
                          std::span<const sealed_link> links) {
    const bool is_opaque = s.owner.mode == account_mode::opaque;
    if (is_opaque) look_at_order(found, s, links);
    // Sealed versions that a conversion has copied are removed in steps.
    const bool may_have = is_opaque || links.empty() || links.back().seq <= s.owner.head.sealed_seq;
    if (!may_have) {
        found.fault(proofs::own_kind, s.who + "a managed account with sealed versions");
    }
    look_at_ids(found, s, links);
    if (!is_opaque) return;
    try {
        look_at_snapshot(tx, found, s, links);
    } catch (const store_failure& failure) {
        found.unreadable(proofs::snapshots, s.who + failure.what());
    }
}

}  // namespace callsign::rules::auditing
