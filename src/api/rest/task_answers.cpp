#include "task_answers.hpp"

namespace callsign::api {
namespace {

wire::field_fault fault_of(std::string where, ref_fault why) {
    const auto missing = [&](const problem& kind) {
        return wire::field_fault{std::move(where), std::string(kind.code),
                                 std::string(kind.title) + "."};
    };
    switch (why) {
    case ref_fault::unknown_prefix: return missing(problems::unknown_prefix);
    case ref_fault::task_not_found: return missing(problems::task_not_found);
    case ref_fault::task_deleted: return missing(problems::task_deleted);
    case ref_fault::is_itself: break;
    }
    return {std::move(where), "invalid", "A task cannot depend on itself."};
}

}  // namespace

wire::faults faults_of_depends(const sent_refs& sent, const depends_unmet& unmet) {
    wire::faults faults;
    for (int i = 0; i < sent.size(); ++i) {
        const auto named = parse_task_ref(sent[i]);
        for (const auto& [ref, why] : unmet.refs) {
            if (named == ref) faults.push_back(fault_of("depends[" + std::to_string(i) + "]", why));
        }
    }
    return faults;
}

std::string etag_of(const task& t) {
    return "\"" + std::to_string(t.last_seq) + "\"";
}

http_response answer_task(const request_context& c, const task& t, std::string_view key_attribute) {
    auto response = answer_message(c, 200, wire::to_message(t, key_attribute));
    response.headers.emplace_back("ETag", etag_of(t));
    response.headers.emplace_back("Vary", "Accept");
    return response;
}

http_response answer_malformed_ref(const request_context& c) {
    return answer_problem(c, problems::malformed_task_ref,
                          "A task is named by its UUID or its key, PREFIX-NUMBER.");
}

http_response answer_unresolved(const request_context& c, ref_fault why) {
    if (why == ref_fault::unknown_prefix) {
        return answer_problem(c, problems::unknown_prefix, "GET /v1/series lists them.");
    }
    if (why == ref_fault::task_not_found) {
        return answer_problem(c, problems::task_not_found, "The account has no task of this name.");
    }
    CALLSIGN_ASSERT(why == ref_fault::task_deleted);
    return answer_problem(c, problems::task_deleted, "Its key is never used again.");
}

http_response answer_unseen(const request_context& c) {
    return answer_problem(c, problems::account_opaque,
                          "Its tasks are made and read by its own clients alone.");
}

}  // namespace callsign::api
