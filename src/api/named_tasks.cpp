#include "named_tasks.hpp"

namespace callsign::api {

depended_on resolve_depends(read_tx& tx, account_id account, const std::vector<task_ref>& refs) {
    depended_on found;
    for (const task_ref& ref : refs) {
        const auto missing = [&](const problem& why) { found.missing.emplace_back(ref, &why); };
        std::visit(overloaded{
                       [&](const task& t) { found.tasks.emplace_back(ref, t.uuid); },
                       [&](rules::unknown_prefix) { missing(problems::unknown_prefix); },
                       [&](rules::task_not_found) { missing(problems::task_not_found); },
                       [&](rules::task_deleted) { missing(problems::task_deleted); },
                   },
                   rules::resolve(tx, account, ref));
    }
    return found;
}

wire::faults faults_of_depends(const sent_refs& sent, const depended_on& found,
                               const std::optional<uuid>& itself) {
    wire::faults faults;
    for (int i = 0; i < sent.size(); ++i) {
        const auto named = parse_task_ref(sent[i]);
        const std::string where = "depends[" + std::to_string(i) + "]";
        for (const auto& [ref, why] : found.missing) {
            if (named != ref) continue;
            faults.push_back({where, std::string(why->code), std::string(why->title) + "."});
        }
        for (const auto& [ref, id] : found.tasks) {
            if (named != ref || id != itself) continue;
            faults.push_back({where, "invalid", "A task cannot depend on itself."});
        }
    }
    return faults;
}

std::string etag_of(const task& t) {
    return "\"" + std::to_string(t.last_seq) + "\"";
}

http_response answer_malformed_ref(const call& c) {
    return answer_problem(c, problems::malformed_task_ref,
                          "A task is named by its UUID or its key, PREFIX-NUMBER.");
}

http_response answer_unresolved(const call& c, const rules::resolved& what) {
    if (std::holds_alternative<rules::unknown_prefix>(what)) {
        return answer_problem(c, problems::unknown_prefix, "GET /v1/series lists them.");
    }
    if (std::holds_alternative<rules::task_not_found>(what)) {
        return answer_problem(c, problems::task_not_found, "The account has no task of this name.");
    }
    CALLSIGN_ASSERT(std::holds_alternative<rules::task_deleted>(what));
    return answer_deleted(c);
}

http_response answer_deleted(const call& c) {
    return answer_problem(c, problems::task_deleted, "Its key is never used again.");
}

http_response answer_unseen(const call& c) {
    return answer_problem(c, problems::account_opaque,
                          "Its tasks are made and read by its own clients alone.");
}

}  // namespace callsign::api
