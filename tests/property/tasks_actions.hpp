#pragma once
// Generated actions for tasks_test.cpp.

#include <ostream>
#include <rapidcheck.h>

namespace callsign::testing {

enum class deed {
    create,
    retry,
    create_many,
    edit,
    edit_many,
    change_series,
    cross_midnight,
    follow,
    look,
    sweep,
    pass_time,
    kill,
    fault
};

struct task_action_drawn {
    deed what = deed::create;
    int who = 0;    // account
    int which = 0;  // task, payload
    int how = 0;    // edit, span, fault
};

inline void showValue(const task_action_drawn& a, std::ostream& out) {
    static constexpr const char* names[] = {
        "create",        "retry",          "create_many", "edit", "edit_many",
        "change_series", "cross_midnight", "follow",      "look", "sweep",
        "pass_time",     "kill",           "fault"};
    out << names[static_cast<int>(a.what)] << '(' << a.who << ',' << a.which << ',' << a.how << ')';
}

inline rc::Gen<task_action_drawn> any_task_action() {
    return rc::gen::build<task_action_drawn>(
        rc::gen::set(&task_action_drawn::what,
                     rc::gen::weightedElement<deed>({{6, deed::create},
                                                     {2, deed::retry},
                                                     {2, deed::create_many},
                                                     {12, deed::edit},
                                                     {3, deed::edit_many},
                                                     {3, deed::change_series},
                                                     {1, deed::cross_midnight},
                                                     {8, deed::follow},
                                                     {1, deed::look},
                                                     {4, deed::sweep},
                                                     {4, deed::pass_time},
                                                     {1, deed::kill},
                                                     {3, deed::fault}})),
        rc::gen::set(&task_action_drawn::who, rc::gen::inRange(0, 2)),
        rc::gen::set(&task_action_drawn::which, rc::gen::inRange(0, 12)),
        rc::gen::set(&task_action_drawn::how, rc::gen::inRange(0, 1024)));
}

}  // namespace callsign::testing
