#pragma once
// Removes the content of purged tasks as a sweep does (reaper.cpp), to the end.

#include <callsign/domain/commands/scrubbing.hpp>
#include <callsign/domain/queries/scrubbing.hpp>

#include <cstddef>
#include <optional>

namespace callsign::testing {

// `ask` answers a query; `run` applies a command, and returns nothing once all is done.
template <class Ask, class Run>
void scrub_all(Ask ask, Run run, std::size_t work_max) {
    for (account_id after;;) {
        auto purged = ask(find_purged{after});
        if (purged.tasks.empty()) return;
        after = purged.account;
        while (purged.after) {
            auto found =
                ask(find_purged_text{purged.account, purged.tasks, *purged.after, work_max});
            purged.after = found.next;
            if (found.versions.empty()) continue;
            if (!run(scrub_purged{purged.account, purged.tasks, found.versions, found.bytes})) {
                return;
            }
        }
        while (!purged.tasks.empty()) {
            const auto step = run(scrub_purged{
                .account = purged.account, .tasks = purged.tasks, .work_max = work_max});
            if (!step) return;
            purged.tasks.erase(purged.tasks.begin(),
                               purged.tasks.begin() + static_cast<std::ptrdiff_t>(step->over));
        }
    }
}

}  // namespace callsign::testing
