#include "task_answers.hpp"

#include <callsign/base/text.hpp>

#include <algorithm>

namespace callsign::api {
namespace {

// nullopt: no task was ever answered with this.
std::optional<std::int64_t> parse_etag(std::string_view text) {
    if (text.size() < 3 || text.front() != '"' || text.back() != '"') return std::nullopt;
    text = text.substr(1, text.size() - 2);
    const auto seq = parse_integer(text);
    return seq && text == std::to_string(*seq) ? seq : std::nullopt;
}

wire::field_fault reference_fault(std::string where, ref_fault why) {
    const auto missing = [&](const problem& kind) {
        return wire::field_fault{std::move(where), std::string(kind.code),
                                 std::string(kind.title).append(".")};
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
            if (named == ref)
                faults.push_back(reference_fault("depends[" + std::to_string(i) + "]", why));
        }
    }
    return faults;
}

std::variant<receipted, refused> outcome_of(const create_answer& answer, const sent_refs& sent,
                                            std::string_view key_attribute) {
    using outcome = std::variant<receipted, refused>;
    return std::visit(
        overloaded{
            [](const receipted& given) -> outcome { return given; },
            [](const slot_failed& failed) -> outcome {
                return refused{problems::slot_failed,
                               "Reserved at " + to_rfc3339(failed.reserved_at) + ", failed at " +
                                   to_rfc3339(failed.failed_at) + " (" +
                                   std::string(to_string(failed.reason)) +
                                   "). This is definite: no task was made, none will be, and a "
                                   "new key is safe."};
            },
            [](key_conflict) -> outcome {
                return refused{problems::key_reused,
                               "Another payload came with this key before. A new creation needs a "
                               "new key."};
            },
            [](const series_held& held) -> outcome {
                return refused{problems::series_held, detail_of_held(held)};
            },
            [](series_archived) -> outcome {
                return refused{problems::series_archived, "Name another one, or none."};
            },
            [](unknown_series) -> outcome {
                return refused_for(wire::faults{
                    {"prefix", "unknown-prefix", "The account has no series with this prefix."}});
            },
            [&](const task_not_valid& wrong) -> outcome {
                wire::faults found;
                wire::add_faults(found, wrong.faults, key_attribute);
                return refused_for(std::move(found));
            },
            [&](const depends_unmet& unmet) -> outcome {
                return refused_for(faults_of_depends(sent, unmet));
            },
            [](in_progress) -> outcome {
                return refused{
                    problems::request_in_progress, "Ask again with the same key.", {}, true};
            },
            [](account_full) -> outcome { return full(); },
            [](const task_too_large&) -> outcome {
                return refused{problems::task_too_large,
                               "It would have more than " + std::string(largest_task) + "."};
            },
            [](const remote_halted& halted) -> outcome {
                return refused{problems::remote_halted,
                               "Its other server is at fault (" +
                                   std::string(to_string(halted.why)) +
                                   "), and nothing is sent there until its operator acts. Ask "
                                   "again with the same key.",
                               {},
                               true};
            },
        },
        answer);
}

std::variant<task, refused> outcome_of(const edit_task::answer& answer, const sent_refs& sent,
                                       std::string_view key_attribute) {
    using outcome = std::variant<task, refused>;
    return std::visit(
        overloaded{
            [](const edit_task::edited& done) -> outcome { return done.now; },
            [](ref_fault why) -> outcome { return unresolved(why); },
            [&](const depends_unmet& unmet) -> outcome {
                return refused_for(faults_of_depends(sent, unmet));
            },
            [](edit_task::changed_since) -> outcome {
                return refused{problems::precondition_failed,
                               "Read it again: its ETag is not among those of If-Match."};
            },
            [&](const task_not_valid& wrong) -> outcome {
                wire::faults found;
                wire::add_faults(found, wrong.faults, key_attribute);
                return refused_for(std::move(found));
            },
            [](account_full) -> outcome { return full(); },
            [](const task_too_large&) -> outcome {
                return refused{problems::task_too_large,
                               "It would have more than " + std::string(largest_task) + "."};
            },
            // Nobody brings it there: the server has only just begun.
            [](edit_task::elsewhere) -> outcome {
                return refused_for(make_error_code(errc::remote_unavailable));
            },
        },
        answer);
}

std::string etag_of(std::int64_t seq) {
    return "\"" + std::to_string(seq) + "\"";
}

std::optional<std::vector<std::int64_t>> matching_seqs(
    const std::vector<std::string_view>& if_match) {
    std::vector<std::int64_t> seqs;
    for (std::string_view rest : if_match) {
        if (trimmed(rest) == "*") return std::nullopt;
        while (!rest.empty()) {
            const auto comma = std::min(rest.find(','), rest.size());
            if (const auto seq = parse_etag(trimmed(rest.substr(0, comma)))) seqs.push_back(*seq);
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    return seqs;
}

http_response unless_known(const request_context& c, http_response response,
                           std::string_view etag) {
    response.headers.emplace_back("ETag", etag);
    response.headers.emplace_back("Vary", "Accept");
    const std::string known = list_of(c.request, boost::beast::http::field::if_none_match);
    if (known != "*" && known.find(etag) == std::string::npos) return response;
    response.status = 304;
    response.body.clear();
    response.content_type.clear();
    return response;
}

http_response answer_task(const request_context& c, const task& t, std::string_view key_attribute) {
    auto response = answer_message(c, 200, wire::to_message(t, key_attribute));
    response.headers.emplace_back("ETag", etag_of(t.last_seq));
    response.headers.emplace_back("Vary", "Accept");
    return response;
}

http_response answer_malformed_ref(const request_context& c) {
    return answer_problem(c, problems::malformed_task_ref,
                          "A task is named by its UUID or its key, PREFIX-NUMBER.");
}

refused unresolved(ref_fault why) {
    if (why == ref_fault::unknown_prefix) {
        return {problems::unknown_prefix, "GET /v1/series lists them."};
    }
    if (why == ref_fault::task_not_found) {
        return {problems::task_not_found, "The account has no task of this name."};
    }
    CALLSIGN_ASSERT(why == ref_fault::task_deleted);
    return {problems::task_deleted, "Its key is never used again."};
}

http_response answer_unseen(const request_context& c) {
    return answer_problem(c, problems::account_opaque,
                          "Its tasks are made and read by its own clients alone.");
}

}  // namespace callsign::api
