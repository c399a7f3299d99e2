#include "mirror.hpp"

#include "changes.hpp"

#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/rules/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace callsign::rules {

precise_time marked_time(const moment& m) {
    const uuid drawn = m.ids.next(m.now);
    std::int64_t rest = 0;
    for (std::size_t i = 12; i < drawn.size(); ++i) rest = rest * 256 + drawn.data[i];
    return precise_time(m.wall) + std::chrono::nanoseconds(rest % 1'000'000);
}

std::variant<mirrored, task_too_large> mirror(write_tx& tx, account_id account,
                                              touched_tasks& tasks,
                                              std::span<const operation> operations,
                                              const mirror_source& from, const moment& m) {
    auto effective = effective_only({operations.begin(), operations.end()},
                                    [&](const uuid& id) { return tasks.is_there(id); });
    effective = drop_transient(std::move(effective), {});
    std::erase_if(effective, [&](const operation& o) { return !tasks.carry_out(o); });
    if (from.bounded) {
        // Any number of attributes is accepted; only tasks too large for this store are rejected.
        constexpr auto any_number = std::numeric_limits<std::size_t>::max();
        if (const auto grown = tasks.too_large(any_number, m.synced_task_bytes_max))
            return task_too_large{*grown};
    }
    if (effective.empty()) return mirrored{};
    changes_origin origin{.by = from.by, .is_own = from.is_own, .version = from.version};
    if (origin.version && versions::find_seq(tx, account, *origin.version)) origin.version.reset();
    const auto done = append_changes(tx, account, effective, tasks, origin, m);
    return mirrored{done.numbered, done.settled};
}

std::optional<effect> creation_at(read_tx& tx, account_id account,
                                  std::span<const operation> operations) {
    if (operations.empty() || operations.front().kind != operation_kind::create) {
        return std::nullopt;
    }
    auto waiting = effects::find(tx, account, operations.front().uuid, effect_kind::creation);
    if (!waiting || waiting->operations.size() > operations.size()) return std::nullopt;
    const bool is_whole =
        std::ranges::equal(waiting->operations, operations.first(waiting->operations.size()));
    return is_whole ? std::move(waiting) : std::nullopt;
}

void advance(write_tx& tx, remote_chain& remote, const uuid& version) {
    remote.before = remote.cursor;
    remote.cursor = version;
    remote.partial = {};
    remote.partial_operations = 0;
    remotes::update(tx, remote);
}

}  // namespace callsign::rules
