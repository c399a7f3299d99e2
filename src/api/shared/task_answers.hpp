#pragma once
// Task references, ETags, and responses about tasks.

#include "rejections.hpp"

#include <callsign/domain/commands/tasks.hpp>
#include <callsign/engine/engine.hpp>

#include <optional>
#include <string>

namespace callsign::api {

using sent_refs = google::protobuf::RepeatedPtrField<std::string>;

// Returns an error for each impossible dependency, at its place in the client's list.
wire::field_errors faults_of_depends(const sent_refs& sent, const depends_unmet& unmet);

// ---- outcomes ----

rejected rejected_for(const task_not_valid& wrong, std::string_view key_attribute);

// Returns why a task was not created or edited; none: it was. `sent`: the dependencies as the
// client sent them, for errors about them. `key_attribute` as in wire/convert.hpp.
template <class Answer>
std::optional<rejected> rejection_of_task(const Answer& answer, const sent_refs& sent,
                                          std::string_view key_attribute) {
    return rejection_in(
        answer, [&](const task_not_valid& wrong) { return rejected_for(wrong, key_attribute); },
        [&](const depends_unmet& unmet) { return rejected_for(faults_of_depends(sent, unmet)); });
}

// ---- ETags ----

// Returns "SEQ", which changes with every change of the task, and no other.
std::string etag_of(std::int64_t seq);
// Returns the seqs in If-Match, whose values are given field by field (RFC 9110 section 13.1.1).
// "*" matches any existing task (nullopt: no condition); weak tags never match. Callsign's tags
// have no comma, so that cutting at commas loses none of them.
std::optional<std::vector<std::int64_t>> matching_seqs(
    const std::vector<std::string_view>& if_match);

// ---- answers ----

// Returns 304 instead of `response` if If-None-Match names this tag, or any.
http_response unless_known(const request_context& c, http_response response, std::string_view etag);

http_response answer_task(const request_context& c, const task& t, std::string_view key_attribute);

http_response answer_malformed_ref(const request_context& c);
// 409: the account is opaque.
rejected unseen();
http_response answer_unseen(const request_context& c);

}  // namespace callsign::api
