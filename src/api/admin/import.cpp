// POST /v1/admin/accounts/{name}/import: tasks as another program has them, a batch at a time. They
// exist already, so REST's limits do not apply, but Taskwarrior must be able to keep them.

#include "handlers.hpp"
#include "shared/rejections.hpp"

#include <callsign/domain/task_faults.hpp>
#include <callsign/jobs/import.hpp>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace callsign::api {
namespace {

void read_task(const v1::ImportedTask& message, const std::string& where, import_tasks& out,
               wire::field_errors& found) {
    const auto id = parse_uuid(message.uuid());
    if (!id || id->is_nil()) {
        add_error(found, {where + ".uuid", "malformed", "Must be a UUID, and not the nil UUID."});
        return;
    }
    import_tasks::imported_task& task = out.tasks.emplace_back();
    task.uuid = *id;
    task.after = message.after();
    check_number_before(task.after, where + ".after", found);
    // Inserted at once: one by one, 100,000 attributes would be moved billions of times.
    std::vector<std::pair<std::string, std::string>> all;
    all.reserve(message.attributes().size());
    for (const auto& [name, value] : message.attributes()) all.emplace_back(name, value);
    task.attributes.insert(std::make_move_iterator(all.begin()),
                           std::make_move_iterator(all.end()));
    std::vector<task_fault> wrong = faults_of_attributes(task.attributes);
    if (wrong.empty()) wrong = faults_of(task.attributes);
    for (const task_fault& each : wrong) {
        const std::string place = where + ".attributes";
        add_error(found, {each.attribute.empty()
                              ? place
                              : place + "." + std::string(wire::shortened(each.attribute)),
                          std::string(each.code), std::string(each.detail)});
    }
}

import_tasks read_tasks(const request_context& c, wire::field_errors& found) {
    import_tasks command;
    command.bytes = c.request.body().size();
    command.author = c.who.token;
    v1::ImportTasks message;
    if (!read_body(c, message, found)) return command;
    command.with_keys = message.with_keys();
    command.check_only = message.check_only();
    if (command.check_only && !command.with_keys) {
        add_error(found, {"checkOnly", "invalid", "Must not be set without withKeys."});
    }
    if (static_cast<std::size_t>(message.tasks_size()) > import_tasks::tasks_max) {
        add_error(found, {"tasks", "too-many", "Must have at most 500 entries."});
        return command;
    }
    for (int i = 0; i < message.tasks_size(); ++i) {
        read_task(message.tasks(i), "tasks[" + std::to_string(i) + "]", command, found);
    }
    return command;
}

http_response answer_done(const request_context& c, const import_tasks::done& done) {
    v1::ImportTasksResult message;
    message.set_imported(done.imported);
    message.set_there_already(done.there_already);
    message.set_completed(done.completed);
    message.set_keys_left_out(done.keys_left_out);
    message.set_keys_kept(done.keys_kept);
    message.set_key_attribute(done.key_attribute);
    return answer_message(c, 200, message);
}

wire::field_error key_error_of(const import_tasks::key_fault& fault) {
    using kind = import_tasks::key_fault_kind;
    const std::string place = "tasks[" + std::to_string(fault.task) + "].attributes";
    const auto with = [&](const char* code, const std::string& why) {
        return wire::field_error{place, code, fault.key + ": " + why};
    };
    switch (fault.kind) {
    case kind::not_a_key: return with("malformed", "Must be a key such as SYN-1.");
    case kind::unknown_prefix:
        return with("unknown-prefix", "Series " + fault.other + " does not exist.");
    case kind::other_period:
        return with("invalid",
                    "The key's period does not match the series' reset, or has not begun.");
    case kind::number_taken: return with("duplicate", "The number is used by " + fault.other + ".");
    case kind::uuid_taken:
        return with("duplicate", "The task already exists, with key " + fault.other + ".");
    case kind::gap:
        return with("gap",
                    fault.other + " is missing before it, and the series does not allow gaps.");
    case kind::too_far_ahead:
        return with("invalid", "The number is more than 1000000 after " + fault.other + ".");
    }
    return with("invalid", "The key cannot be kept.");
}

rejected keys_not_kept(const import_tasks::keys_rejected& no) {
    wire::field_errors faults;
    for (const auto& fault : no.faults) faults.push_back(key_error_of(fault));
    const std::int64_t before = no.checked.imported;
    return {problems::numbers_rejected,
            (before == 0 ? "No task was imported"
                         : "The series changed during the import; " + std::to_string(before) +
                               " tasks were imported before") +
                std::string(". The keys that cannot be kept are listed by task."),
            std::move(faults)};
}

}  // namespace

awaitable<http_response> post_import(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    import_tasks wanted = read_tasks(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    std::string name = wire::percent_decoded(c.captured[0]);
    actor by = c.by();
    const auto done =
        co_await jobs::import_into(a.jobs, std::move(name), std::move(wanted), std::move(by));
    if (!done) co_return answer_error(c, done.error());
    co_return answer_outcome(
        c, *done, [&c](const import_tasks::done& counts) { return answer_done(c, counts); },
        [](const import_tasks::keys_rejected& no) { return keys_not_kept(no); },
        [](account_is_remote) { return import_there(); },
        [](account_is_opaque) {
            return rejected{problems::account_opaque,
                            "The server cannot encrypt tasks for the account's clients: configure "
                            "sync in the Taskwarrior that has the tasks."};
        },
        [](const task_too_large& large) {
            return rejected{problems::task_too_large,
                            "Task " + to_string(large.task) + " has more than " +
                                std::string(largest_task) + ". No task was imported."};
        });
}

}  // namespace callsign::api
