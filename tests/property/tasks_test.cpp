// Goal: what clients were told of their tasks is so, whatever they do and wherever the process
// dies. An edit does what it says or is refused for the reason there is; numbers are 1..n in each
// series and period; a key names its task whatever its prefix is called by now; a purged task is
// gone for good; and who follows is shown each change once, in order, with the task as it stood.
//
// Method: as in promise_test.cpp, rapidcheck draws lists of actions and faults. A model
// (tasks_model.hpp) foretells the answer to each request; after each action the chain is read, and
// all in it must be what somebody asked for. Where the process died in between, the model learns
// from the chain which of it took. Followers read pages of all sizes, some with a filter, stay away
// while the process dies and while history is forgotten, and are held against the chain
// (model_follower.hpp).

#include "property/tasks_world.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace callsign::testing {
namespace {

void tasks_are_as_told(std::unique_ptr<disk> on) {
    const auto actions = *rc::gen::container<std::vector<task_action_drawn>>(any_task_action());
    tasks_world w(std::move(on));
    for (const auto& a : actions) w.perform(a);
    w.settle_accounts();
    RC_CLASSIFY(w.seen().edits > 3, "edits");
    RC_CLASSIFY(w.seen().purges > 0, "purges");
    RC_CLASSIFY(w.seen().days > 1, "numbers of several days");
    RC_CLASSIFY(w.seen().heard > 10, "more than ten changes heard");
    RC_CLASSIFY(w.seen().expiries > 0, "cursors that are too old");
}

RC_GTEST_PROP(tasks, are_as_told_in_memory, ()) {
    tasks_are_as_told(std::make_unique<memory_disk>());
}

RC_GTEST_PROP(tasks, are_as_told_on_sqlite, ()) {
    tasks_are_as_told(std::make_unique<sqlite_disk>());
}

}  // namespace
}  // namespace callsign::testing
