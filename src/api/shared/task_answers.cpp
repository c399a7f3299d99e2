#include "task_answers.hpp"

#include "etags.hpp"

namespace callsign::api {
namespace {

wire::field_error reference_fault(std::string where, ref_fault why) {
    const auto missing = [&](const problem& kind) {
        return wire::field_error{std::move(where), std::string(kind.code),
                                 std::string(kind.title).append(".")};
    };
    switch (why) {
    case ref_fault::unknown_prefix: return missing(problems::unknown_prefix);
    case ref_fault::task_not_found: return missing(problems::task_not_found);
    case ref_fault::task_deleted: return missing(problems::task_deleted);
    case ref_fault::is_itself: break;
    }
    return {std::move(where), "invalid", "Must not be the task itself."};
}

}  // namespace

wire::field_errors faults_of_depends(const sent_refs& sent, const depends_unmet& unmet) {
    wire::field_errors faults;
    for (int i = 0; i < sent.size(); ++i) {
        const auto named = parse_task_ref(sent[i]);
        for (const auto& [ref, why] : unmet.refs) {
            if (named == ref)
                faults.push_back(reference_fault("depends[" + std::to_string(i) + "]", why));
        }
    }
    return faults;
}

rejected rejected_for(const task_not_valid& wrong, std::string_view key_attribute) {
    wire::field_errors found;
    wire::add_errors(found, wrong.faults, key_attribute);
    return rejected_for(std::move(found));
}

http_response answer_task(const request_context& c, const task& t, std::string_view key_attribute) {
    auto response = answer_message(c, 200, wire::to_message(t, key_attribute));
    response.headers.emplace_back("ETag", etag_of(t.tag));
    response.headers.emplace_back("Vary", "Accept");
    return response;
}

http_response answer_malformed_ref(const request_context& c) {
    return answer_problem(c, problems::malformed_task_ref,
                          "Use the task's UUID or its key, such as SYN-42.");
}

rejected unseen() {
    return {problems::account_opaque,
            "Only the account's own clients can read and write its tasks."};
}

http_response answer_unseen(const request_context& c) {
    return answer_rejected(c, unseen());
}

}  // namespace callsign::api
