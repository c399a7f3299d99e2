// Goal: responses about tasks are true whatever clients do and wherever the process dies. An edit
// takes effect or is rejected for the right reason; numbers are 1..n in each series and period; a
// key identifies its task under each current and former prefix; a purged task stays purged; and a
// follower receives each change once, in order, with the task as of that change.
//
// Method: as in promise_test.cpp, rapidcheck generates lists of actions and faults. A model
// (tasks_model.hpp) predicts the response to each request; after each action the chain is read, and
// every change in it must result from a request. If the process died, the model learns from the
// chain which requests succeeded. Followers read pages of all sizes, some with a filter, stay away
// while the process dies and while history expires, and are compared with the chain
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
    RC_CLASSIFY(w.seen().expiries > 0, "expired cursors");
}

RC_GTEST_PROP(tasks, are_as_reported_in_memory, ()) {
    tasks_are_as_told(std::make_unique<memory_disk>());
}

RC_GTEST_PROP(tasks, are_as_reported_on_sqlite, ()) {
    tasks_are_as_told(std::make_unique<sqlite_disk>());
}

RC_GTEST_PROP(tasks, are_as_reported_on_postgres, ()) {
    tasks_are_as_told(std::make_unique<postgres_disk>());
}

}  // namespace
}  // namespace callsign::testing
