// Converts an opaque account to managed, with its secret.

#include "handlers.hpp"
#include "shared/rejections.hpp"

#include <callsign/domain/query.hpp>
#include <callsign/jobs/conversion.hpp>

namespace callsign::api {
namespace {

// Returns the secret as sent; empty: `found` has the error.
std::string read_secret(const request_context& c, wire::field_errors& found) {
    v1::ManageAccount message;
    if (!read_body(c, message, found)) return {};
    if (message.encryption_secret().empty()) {
        add_error(found, {"encryptionSecret", "required",
                          "Must be the sync.encryption_secret of the account's replicas."});
    }
    return std::move(*message.mutable_encryption_secret());
}

http_response answer_converted(const request_context& c, const jobs::converted& done) {
    v1::ManagedAccount message;
    message.set_account(done.account);
    message.set_versions(done.counts.versions);
    message.set_tasks(done.counts.tasks);
    message.set_device(std::string(jobs::converted_device_name));
    return answer_message(c, 200, message);
}

// Returns the job's account, by the name in the path; none: `rejected` is the response.
awaitable<std::optional<account_id>> find_owner(admin_context& a, request_context& c,
                                                http_response& rejected) {
    find_account question{wire::percent_decoded(c.captured[0])};
    const auto found = co_await a.engine.ask(std::move(question));
    if (found && *found) co_return (*found)->id;
    rejected = found ? answer_no_account(c) : answer_error(c, found.error());
    co_return std::nullopt;
}

}  // namespace

awaitable<http_response> post_conversion(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    std::string secret = read_secret(c, wrong);
    seal::wipe(c.request.body());
    const seal::wiped afterwards(secret);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    std::string name = wire::percent_decoded(c.captured[0]);
    actor by = c.by();
    const auto done =
        co_await jobs::convert_account(a.jobs, std::move(name), secret, std::move(by));
    if (!done) co_return answer_error(c, done.error());
    co_return answer_outcome(c, *done,
                             [&c](const jobs::converted& its) { return answer_converted(c, its); });
}

awaitable<http_response> get_conversion(admin_context& a, request_context& c) {
    http_response rejected;
    const auto owner = co_await find_owner(a, c, rejected);
    if (!owner) co_return rejected;
    v1::ManagingStatus message;
    if (const auto now = a.jobs.board.find(jobs::job_kind::conversion, *owner)) {
        message.set_running(true);
        message.set_opened(now->done);
        message.set_total(now->total);
    }
    co_return answer_message(c, 200, message);
}

awaitable<http_response> delete_conversion(admin_context& a, request_context& c) {
    http_response rejected;
    const auto owner = co_await find_owner(a, c, rejected);
    if (!owner) co_return rejected;
    if (!a.jobs.board.cancel(jobs::job_kind::conversion, *owner)) {
        co_return answer_problem(c, problems::no_conversion,
                                 "The account has no conversion in progress.");
    }
    note_action note{"conversion-cancelled", wire::percent_decoded(c.captured[0])};
    actor by = c.by();
    const auto noted = co_await a.engine.submit(std::move(note), std::move(by));
    if (!noted) co_return answer_error(c, noted.error());
    http_response done;
    done.status = 204;
    co_return done;
}

}  // namespace callsign::api
