#pragma once
// Tasks as requests name them, ETags, and what is answered where there is no such task.

#include "answers.hpp"

#include <callsign/domain/commands/creation.hpp>

#include <string>

namespace callsign::api {

using sent_refs = google::protobuf::RepeatedPtrField<std::string>;

// A fault for each that cannot be depended on, at its place in the list as the client sent it.
wire::faults faults_of_depends(const sent_refs& sent, const depends_unmet& unmet);

// "SEQ": it changes with every change of the task, and no other.
std::string etag_of(const task& t);

// The task as it is now. `key_attribute` as in wire/convert.hpp.
http_response answer_task(const request_context& c, const task& t, std::string_view key_attribute);

http_response answer_malformed_ref(const request_context& c);
http_response answer_unresolved(const request_context& c, ref_fault why);
// The account is opaque.
http_response answer_unseen(const request_context& c);

}  // namespace callsign::api
