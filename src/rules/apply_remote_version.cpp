// Applies a version of a remote chain to its mirror.

#include "mirror.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/rows/remotes.hpp>

namespace callsign::rules {
namespace {

// Returns whether the mirror is where the command continues.
bool is_next(const remote_chain& remote, const apply_remote_version& c) {
    if (remote.cursor != c.parent) return false;
    if (remote.partial.is_nil()) return c.before == 0;
    return remote.partial == c.version && remote.partial_operations == c.before;
}

// Returns the number of operations before the next creation from the outbox, at least 1.
std::size_t before_own(read_tx& tx, account_id account, std::span<const operation> rest) {
    std::size_t n = 1;
    while (n < rest.size() && !creation_at(tx, account, rest.subspan(n))) ++n;
    return n;
}

}  // namespace

apply_remote_version::answer apply(write_tx& tx, const apply_remote_version& c, const moment& m) {
    auto remote = remotes::find(tx, c.account);
    if (!remote) return no_remote{};
    if (!is_next(*remote, c)) return cursor_mismatch{};
    apply_remote_version::applied done;
    std::size_t work = 0;
    for (std::span<const operation> rest = c.operations; !rest.empty() && work < c.work_max;) {
        touched_tasks tasks(tx, c.account);
        mirror_source from;
        std::size_t some = 0;
        const auto look = [&](std::size_t n) {
            const std::size_t looked = tasks.look_at(rest[n].uuid);
            work += looked;
            return looked;
        };
        if (const auto own = creation_at(tx, c.account, rest)) {
            some = own->operations.size();
            from.is_own = [id = own->id](const effect& e) { return e.id == id; };
        } else {
            const auto others = rest.first(before_own(tx, c.account, rest));
            some = operations_within(c.work_max - work, others, look);
        }
        work += work_of(rest.first(some));
        if (some == rest.size() && c.is_end) from.version = c.version;
        const auto part = mirror(tx, c.account, tasks, rest.first(some), from, m);
        if (const auto* const grown = std::get_if<task_too_large>(&part)) {
            if (done.taken == 0) return *grown;
            break;  // the next command begins with it
        }
        done.numbered += std::get<mirrored>(part).numbered;
        done.settled += std::get<mirrored>(part).settled;
        done.taken += some;
        rest = rest.subspan(some);
    }
    if (done.taken == c.operations.size() && c.is_end) {
        advance(tx, *remote, c.version);
    } else {
        remote->partial = c.version;
        remote->partial_operations = c.before + static_cast<std::int64_t>(done.taken);
        remotes::update(tx, *remote);
    }
    return done;
}

}  // namespace callsign::rules
