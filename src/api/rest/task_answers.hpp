#pragma once
// Tasks as requests name them, ETags, and what is answered where there is no such task.

#include "answers.hpp"

#include <callsign/domain/commands/tasks.hpp>
#include <callsign/engine/engine.hpp>

#include <string>
#include <variant>

namespace callsign::api {

using sent_refs = google::protobuf::RepeatedPtrField<std::string>;

// A fault for each that cannot be depended on, at its place in the list as the client sent it.
wire::faults faults_of_depends(const sent_refs& sent, const depends_unmet& unmet);

// ---- what became of it, whoever is told ----

// `sent`: the dependencies as the client sent them; looked at if they are what is wrong.
// `key_attribute` as in wire/convert.hpp.
std::variant<receipted, refused> outcome_of(const create_answer& answer, const sent_refs& sent,
                                            std::string_view key_attribute);
std::variant<task, refused> outcome_of(const edit_task::answer& answer, const sent_refs& sent,
                                       std::string_view key_attribute);

// ---- ETags ----

// "SEQ": it changes with every change of the task, and no other.
std::string etag_of(std::int64_t seq);
// What If-Match lists, a value for each time the field is there. RFC 9110 section 13.1.1: "*" holds
// for any task that is there (nullopt: no condition is left), a list for those it has; weak tags
// never match. Ours have no comma in them, so cutting at each one loses none of ours.
std::optional<std::vector<std::int64_t>> matching_seqs(
    const std::vector<std::string_view>& if_match);

// ---- answers ----

// 304 in place of it, if it is what the client has: If-None-Match names this tag, or any.
http_response unless_known(const request_context& c, http_response response, std::string_view etag);

// The task as it is now.
http_response answer_task(const request_context& c, const task& t, std::string_view key_attribute);

http_response answer_malformed_ref(const request_context& c);
refused unresolved(ref_fault why);
// The account is opaque.
http_response answer_unseen(const request_context& c);

}  // namespace callsign::api
