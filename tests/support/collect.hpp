#pragma once
// Collects all tasks of an account with queries, as a job does.

#include <callsign/domain/collected_tasks.hpp>
#include <callsign/rules/read.hpp>

namespace callsign::testing {

// Runs one query with this maximum of work. Returns false after the last one.
inline bool collect_step(collected_tasks& all, read_tx& tx, std::size_t work_max = step_work_max) {
    if (all.wants_rows()) {
        read_tasks question = all.next_rows();
        question.work_max = work_max;
        return all.add(rules::read(tx, question));
    }
    read_versions question = all.next_versions();
    question.work_max = work_max;
    return all.add(rules::read(tx, question));
}

inline collected_tasks collect(read_tx& tx, account_id account, std::size_t bytes_max) {
    collected_tasks all(account, bytes_max);
    while (collect_step(all, tx)) {
    }
    return all;
}

}  // namespace callsign::testing
