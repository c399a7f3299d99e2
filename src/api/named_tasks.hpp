#pragma once
// Tasks as requests name them: refs in paths and in lists of dependencies, ETags, and what is
// answered where there is no such task.

#include "handlers.hpp"

#include <callsign/rules/rules.hpp>

#include <utility>
#include <vector>

namespace callsign::api {

// The tasks another one is to depend on, and those that are not there.
struct depended_on {
    std::vector<std::pair<task_ref, uuid>> tasks;
    std::vector<std::pair<task_ref, const problem*>> missing;
};

depended_on resolve_depends(read_tx& tx, account_id account, const std::vector<task_ref>& refs);

using sent_refs = google::protobuf::RepeatedPtrField<std::string>;

// A fault for each that is missing, or is the task `itself`, at its place in the list as the client
// sent it.
wire::faults faults_of_depends(const sent_refs& sent, const depended_on& found,
                               const std::optional<uuid>& itself);

// "SEQ": it changes with every change of the task, and no other.
std::string etag_of(const task& t);

http_response answer_malformed_ref(const call& c);
// Requires: it is no task.
http_response answer_unresolved(const call& c, const rules::resolved& what);
http_response answer_deleted(const call& c);
// The account is opaque.
http_response answer_unseen(const call& c);

}  // namespace callsign::api
