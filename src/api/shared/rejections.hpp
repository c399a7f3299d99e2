#pragma once
// What the rejections of commands and jobs mean to a client: the only mapping of these to problems.
// A handler has its own case where the meaning depends on its request.

#include "answers.hpp"
#include "request_key.hpp"

#include <callsign/base/variants.hpp>
#include <callsign/domain/command.hpp>
#include <callsign/jobs/conversion.hpp>
#include <callsign/jobs/remote_accounts.hpp>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace callsign::api {

inline rejected remote_not_settled() {
    return {problems::not_settled,
            "The remote account changes faster than changes can be pulled, or the remote server "
            "rejects pending changes. No changes were made; retry later."};
}

inline rejected import_there() {
    return {problems::account_remote, "Import the tasks on the remote server."};
}

inline const overloaded rejections{
    // ---- tasks ----
    [](const slot_failed& failed) {
        return rejected{problems::slot_failed,
                        "Reserved at " + to_rfc3339(failed.reserved_at) + ", failed at " +
                            to_rfc3339(failed.failed_at) + " (" +
                            std::string(to_string(failed.reason)) +
                            "). The failure is permanent: no task was created, and none will be. "
                            "Use a new key."};
    },
    [](key_conflict) {
        return rejected{problems::key_reused,
                        "The key was used with another request. Use a new key."};
    },
    [](edit_webhook::edited_meanwhile) {
        return rejected{problems::request_in_progress,
                        "The webhook was changed at the same time. Retry.",
                        {},
                        true};
    },
    [](in_progress) {
        return rejected{problems::request_in_progress, "Retry with the same key.", {}, true};
    },
    [](ref_fault why) { return unresolved(why); },
    [](edit_task::precondition_failed) {
        return rejected{problems::precondition_failed,
                        "The task's ETag does not match If-Match. Read the task again."};
    },
    // The outbox, which delivers the edit, has not started yet.
    [](edit_task::is_remote_account) {
        return rejected_for(make_error_code(errc::remote_unavailable));
    },
    [](task_too_large) {
        return rejected{problems::task_too_large,
                        "The task would have more than " + std::string(largest_task) + "."};
    },
    [](const remote_halted& halted) {
        return rejected{problems::remote_halted,
                        "The remote account is halted (" + std::string(to_string(halted.why)) +
                            ") until an operator resumes it. Retry with the same key.",
                        {},
                        true};
    },
    [](assign_key::not_opaque) {
        return rejected{problems::account_managed,
                        "Tasks of a managed account get their keys when they are created."};
    },

    // ---- accounts ----
    [](no_such_account) { return no_account(); },
    [](name_taken) {
        return rejected{problems::name_taken, "Another account has this name."};
    },
    [](client_id_taken) {
        return rejected{problems::client_id_taken, "Another account already has this client ID."};
    },
    [](account_full) {
        return rejected{problems::account_full,
                        "No changes were made. Reads and purges still work; an operator can raise "
                        "accounts.stored_bytes_max."};
    },
    [](create_token::too_many_tokens) {
        return rejected{problems::too_many_tokens,
                        "Revoke unused tokens, or ask an operator to raise accounts.tokens_max."};
    },
    [](create_token::has_ended) {
        return rejected{problems::token_not_found,
                        "This key created a token that has ended since. Use a new key."};
    },
    [](revoke_token::no_such_token) {
        return rejected{problems::token_not_found, "The token ID is unknown."};
    },
    [](create_device::too_many) {
        return rejected{problems::too_many_devices, "Revoke unused devices."};
    },
    [](revoke_device::no_such_device) {
        return rejected{problems::device_not_found, "The account has no device with this ID."};
    },
    [](create_webhook::too_many) {
        return rejected{problems::too_many_webhooks, "Delete unused webhooks."};
    },
    [](no_such_webhook) {
        return rejected{problems::webhook_not_found, "The account has no webhook with this ID."};
    },
    [](no_such_client) {
        return rejected{problems::client_not_found,
                        "Create the client's account first: PUT /v1/admin/client."};
    },
    // Secrets cannot be stored without a master key.
    [](jobs::no_master_key) {
        return rejected{problems::no_master_key,
                        "Create a key with `callsign master-key new FILE`, set [secrets] "
                        "master_key_file to the file, and restart the server."};
    },

    // ---- series ----
    [](unknown_series) {
        return rejected_for(
            wire::field_errors{{"prefix", std::string(problems::unknown_prefix.code),
                                "The account has no series with this prefix."}});
    },
    [](no_such_series) {
        return rejected{problems::unknown_prefix, "GET /v1/series lists the series."};
    },
    [](series_archived) {
        return rejected{problems::series_archived, "Use the prefix of another series, or omit it."};
    },
    [](const series_held& held) {
        return rejected{problems::series_held,
                        "The server was restored from a backup, so numbers of " + held.prefix +
                            " assigned since then may be in use. An operator must resume the "
                            "series: callsign series resume " +
                            held.prefix + " --account NAME --at N."};
    },
    [](prefix_taken) {
        return rejected{problems::prefix_taken,
                        "Another series of the account has this prefix, or had it before."};
    },
    [](project_taken) {
        return rejected{problems::project_taken, "Another series of the account has this project."};
    },
    [](create_series::too_many_series) {
        return rejected{problems::too_many_series, "An account has at most 1000 series."};
    },
    [](edit_series::reset_is_settled) {
        return rejected{problems::series_in_use,
                        "The series has assigned numbers, so its reset cannot change. Create "
                        "another series."};
    },
    [](edit_series::default_stays) {
        return rejected{problems::series_in_use,
                        "The account's default series cannot be archived."};
    },
    [](edit_series::next_too_low wrong) {
        return rejected{problems::series_in_use, "next must be at least " +
                                                     std::to_string(wrong.least) +
                                                     ": lower numbers are already assigned."};
    },
    [](edit_series::promises_no_gaps) {
        return rejected{problems::series_in_use,
                        "next would skip numbers. Set allowsGaps to permit gaps."};
    },
    [](edit_series::too_many_prefixes) {
        return rejected{problems::too_many_prefixes,
                        "Keys with former prefixes stay valid. Use a former prefix of the series, "
                        "or ask an operator to raise accounts.former_prefixes_max."};
    },
    [](resume_series::not_held) {
        return rejected{problems::series_not_held,
                        "The series assigns numbers; there is nothing to resume."};
    },

    // ---- remote accounts ----
    [](const jobs::remote_fault& fault) {
        using kind = sink_failure::kind;
        return rejected{fault.why == kind::wrong_secret ? problems::wrong_secret
                        : fault.why == kind::unreadable ? problems::history_unreadable
                                                        : problems::remote_unavailable,
                        fault.text + " No changes were made."};
    },
    [](no_remote) {
        return rejected{problems::account_local, "The account has no remote server."};
    },
    [](edit_remote::has_lost_versions) {
        return rejected{problems::remote_history_lost,
                        "The remote server has lost versions. Restore its newest backup, or set "
                        "acceptLoss to accept the history that it has now. Keys do not change."};
    },
    [](jobs::remote_not_empty) {
        return rejected{problems::remote_not_empty,
                        "The client ID must be new on the remote server, or synced only by the "
                        "account's own devices since its last change. No changes were made."};
    },
    [](jobs::remote_unreachable) {
        return rejected{
            problems::remote_unavailable,
            "The server must first verify that it has all changes of the remote server. "
            "No changes were made."};
    },
    [](const move_to_remote::has_devices& some) {
        return rejected{problems::has_devices,
                        "Active devices: " + std::to_string(some.active) +
                            ". Sync each a last time, then revoke it. No changes were made."};
    },
    [](move_to_remote::has_changed) {
        return rejected{problems::not_settled,
                        "The account changed during the request, and its devices do not have the "
                        "change. The account was not moved."};
    },
    [](move_to_remote::already_remote) {
        return rejected{problems::account_remote,
                        "Move the account to this server first. No changes were made."};
    },
    [](move_to_local::not_settled) { return remote_not_settled(); },
    [](cursor_mismatch) { return remote_not_settled(); },

    // ---- conversion ----
    [](account_is_managed) {
        return rejected{problems::account_managed, "No changes were made."};
    },
    [](manage_account::no_history) {
        return rejected{problems::no_history,
                        "The secret cannot be verified: sync one of the account's replicas first. "
                        "No changes were made."};
    },
    [](const jobs::history_fault& wrong) {
        const std::string end = wrong.why.ends_with('.') ? "" : ".";
        return rejected{wrong.wrong_secret ? problems::wrong_secret : problems::history_unreadable,
                        wrong.why + end + " No changes were made."};
    },
    [](jobs::another_under_way) {
        return rejected{
            problems::overloaded, "Another conversion is in progress. Retry later.", {}, true};
    },
    [](jobs::outpaced) {
        return rejected{problems::overloaded,
                        "Clients add versions faster than the server can convert them. No changes "
                        "were made; retry later.",
                        {},
                        true};
    },
    [](jobs::cancelled) {
        return rejected{problems::cancelled, "No changes were made."};
    },
};

template <class T>
struct is_variant : std::false_type {};
template <class... Alternative>
struct is_variant<std::variant<Alternative...>> : std::true_type {};

template <class T, class... Cases>
inline constexpr bool is_rejection = is_variant<T>::value ||
                                     std::is_invocable_v<decltype(rejections), const T&> ||
                                     (std::is_invocable_v<Cases, const T&> || ...);

// Returns the rejection in an outcome, as one of the cases sees it, or else as above; none: the
// outcome is no rejection.
template <class... Alternative, class... Cases>
std::optional<rejected> rejection_in(const std::variant<Alternative...>& outcome,
                                     const Cases&... cases) {
    const overloaded own{cases..., [](const struct no_case&) {}};
    return std::visit(
        [&]<class T>(const T& each) -> std::optional<rejected> {
            if constexpr (std::is_invocable_v<decltype(own), const T&>) {
                return own(each);
            } else if constexpr (is_variant<T>::value) {
                return rejection_in(each, cases...);
            } else if constexpr (std::is_invocable_v<decltype(rejections), const T&>) {
                return rejections(each);
            } else {
                return std::nullopt;
            }
        },
        outcome);
}

template <class T>
struct is_replayed : std::false_type {};
template <class T>
struct is_replayed<replayed<T>> : std::true_type {};

// Returns the response to an outcome. `done` makes it of each alternative that is no rejection; of
// a replayed outcome as of the first, unless it has a case of its own.
template <class Outcome, class Done, class... Cases>
http_response answer_outcome(const request_context& c, const Outcome& outcome, const Done& done,
                             const Cases&... cases) {
    if (const auto why = rejection_in(outcome, cases...)) return answer_rejected(c, *why);
    return std::visit(
        [&]<class T>(const T& each) -> http_response {
            if constexpr (std::is_invocable_v<Done, const T&>) {
                return done(each);
            } else if constexpr (is_replayed<T>::value) {
                return as_replayed(done(each.first));
            } else {
                static_assert(is_rejection<T, Cases...>, "an alternative without a response");
                CALLSIGN_ASSERT(!"answered above");
            }
        },
        outcome);
}

// Returns the response to a request that repeats an earlier one, if the query finds that: before
// anything is checked that may have changed since. nullopt: the request is new.
template <class Query, class Done>
awaitable<std::optional<http_response>> answer_if_repeated(engine& engine, const request_context& c,
                                                           Query query, Done done) {
    const auto found = co_await engine.ask(std::move(query));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return std::nullopt;
    co_return answer_outcome(c, **found, done);
}

// Submits a command of the caller, and returns the response to its outcome.
template <class Command, class Done, class... Cases>
awaitable<http_response> carry_out(engine& engine, request_context& c, Command command, Done done,
                                   Cases... cases) {
    actor by = c.by();
    const auto outcome = co_await engine.submit(std::move(command), std::move(by));
    if (!outcome) co_return answer_error(c, outcome.error());
    co_return answer_outcome(c, *outcome, done, cases...);
}

}  // namespace callsign::api
