// Finds text of purged tasks. There is no index by task: the chain is read from the version that
// created the first of them.

#include "purged_text.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/purges.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace callsign::rules {
namespace {

// Work of a version without its operations.
constexpr std::size_t work_of_version = 256;

// Maximum number of tasks whose creating versions one query finds.
constexpr std::size_t looked_at_max = 500;

// Returns the last seq before any text of these tasks, 0 if unknown. The receipt of a task that
// arrived without a number names a later version than the creating one, and so does that of a task
// which a client of an opaque account removed before the server could read it.
std::int64_t before_all(read_tx& tx, account_id account, std::span<const purge> tasks) {
    std::map<std::int64_t, std::vector<uuid>> made;  // by the seqs of their receipts
    for (const purge& p : tasks) {
        const auto known = tasks::find(tx, account, p.task);
        const std::int64_t seq = known && known->numbered ? known->numbered->seq : 0;
        if (seq < 1 || seq > p.through) return 0;
        made[seq].push_back(p.task);
    }
    for (auto& [seq, all] : made) {
        for (const version& v : versions::some(tx, account, seq - 1, 1)) {
            for (const operation& o : v.operations) {
                if (v.seq == seq && o.kind == operation_kind::create) std::erase(all, o.uuid);
            }
        }
        if (!all.empty()) return 0;
    }
    return made.empty() ? 0 : made.begin()->first - 1;
}

}  // namespace

find_purged::answer read(read_tx& tx, const find_purged& q) {
    find_purged::answer found;
    found.tasks = purges::of_next(tx, q.after, q.limit);
    if (found.tasks.empty()) return found;
    found.account = found.tasks.front().account;
    // Many tasks are not looked up one by one: their chain is read once from its start.
    const bool is_few = found.tasks.size() <= looked_at_max;
    found.after = is_few ? before_all(tx, found.account, found.tasks) : 0;
    return found;
}

find_purged_text::answer read(read_tx& tx, const find_purged_text& q) {
    find_purged_text::answer found;
    const purged_text text(q.tasks);
    std::int64_t after = q.after;
    for (std::size_t work = 0; work < q.work_max;) {
        auto next = versions::some(tx, q.account, after, 1);
        if (next.empty() || next.front().seq > text.last_seq()) return found;
        version& v = next.front();
        after = v.seq;
        const std::size_t bytes = work_of_version + work_of(v.operations);
        work += bytes;
        if (!text.scrub(v)) continue;
        found.versions.push_back(v.seq);
        found.bytes += bytes;
    }
    found.next = after;
    return found;
}

}  // namespace callsign::rules
