#pragma once
// Sends a segment to the rules in steps.

#include <callsign/domain/commands/chain.hpp>
#include <callsign/domain/queries/chain.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

namespace callsign::testing {

// Continues as the server does after a command has applied a part (jobs/segments.cpp).
inline void go_on(callsign::add_version& c, const callsign::add_version::added& done) {
    c.operations.erase(c.operations.begin(),
                       c.operations.begin() + static_cast<std::ptrdiff_t>(done.taken));
    c.continues = c.continues || done.version != c.parent;
    c.parent = done.version;
}

// Reads the versions that the device missed, as the server does when a command needs them. Returns
// false if they are too many. `ask` answers a query; `part_max`: limit of bytes per query.
template <class Ask>
bool read_missed(callsign::add_version& c, std::size_t part_max, Ask ask) {
    missed_changes missed = c.missed ? *c.missed : missed_changes{};
    for (bool is_all = false; !is_all && !missed.is_too_much();) {
        find_missed question{c.account, c.client_id, c.parent, missed.through, c.operations};
        question.work_max = part_max;
        auto answer = ask(question);
        auto* const found = std::get_if<find_missed::found>(&answer);
        if (!found || found->next.through <= missed.through) return false;
        missed.append(std::move(found->next));
        is_all = found->is_all;
    }
    if (missed.is_too_much()) return false;
    c.missed = std::make_shared<const missed_changes>(std::move(missed));
    return true;
}

}  // namespace callsign::testing
