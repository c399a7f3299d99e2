#pragma once
// Responses about tasks.

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

// ---- answers ----

http_response answer_task(const request_context& c, const task& t, std::string_view key_attribute);

http_response answer_malformed_ref(const request_context& c);
// 409: the account is opaque.
rejected unseen();
http_response answer_unseen(const request_context& c);

}  // namespace callsign::api
