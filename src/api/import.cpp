// POST /v1/admin/accounts/{name}/import: tasks as they are elsewhere, a batch at a time. What they
// hold was a task's before, so nothing is asked of it but that it can be one's here.

#include "handlers.hpp"

#include <algorithm>

namespace callsign::api {
namespace {

void read_task(const v1::ImportedTask& message, const std::string& where, import_tasks& out,
               wire::faults& found) {
    const auto id = parse_uuid(message.uuid());
    if (!id || id->is_nil()) {
        add_fault(found, {where + ".uuid", "malformed", "A task has a UUID."});
        return;
    }
    import_tasks::imported_task& task = out.tasks.emplace_back();
    task.uuid = *id;
    task.attributes.reserve(message.attributes().size());
    for (const auto& [name, value] : message.attributes()) {
        if (name.empty()) {
            add_fault(found, {where + ".attributes", "invalid", "An attribute has a name."});
        } else {
            task.attributes.emplace(name, value);
        }
    }
}

import_tasks read_tasks(const call& c, wire::faults& found) {
    import_tasks command;
    command.bytes = c.request.body().size();
    v1::ImportTasks message;
    if (!read_body(c, message, found)) return command;
    if (static_cast<std::size_t>(message.tasks_size()) > import_tasks::tasks_max) {
        add_fault(found, {"tasks", "too-many", "Must have at most 500 entries."});
        return command;
    }
    for (int i = 0; i < message.tasks_size(); ++i) {
        read_task(message.tasks(i), "tasks[" + std::to_string(i) + "]", command, found);
    }
    return command;
}

// Looked at before the first step: a request that is refused for one has imported none.
const import_tasks::imported_task* too_large(const import_tasks& command) {
    const auto found = std::find_if(command.tasks.begin(), command.tasks.end(),
                                    [](const import_tasks::imported_task& t) {
                                        std::size_t bytes = 0;
                                        for (const auto& [name, value] : t.attributes)
                                            bytes += name.size() + value.size();
                                        return bytes > task_bytes_max;
                                    });
    return found == command.tasks.end() ? nullptr : &*found;
}

// One command after the other until all are taken. If the server dies on the way, or has too much
// to do, the same request again takes what is left.
awaitable<result<import_tasks::answer>> import_step_by_step(rooms& r, import_tasks rest) {
    import_tasks::done all;
    for (;;) {
        import_tasks command = rest;
        const auto answer = co_await r.engine.submit(std::move(command));
        const auto* done = answer ? std::get_if<import_tasks::done>(&*answer) : nullptr;
        if (!done) co_return answer;
        all.imported += done->imported;
        all.there_already += done->there_already;
        all.keys_left_out += done->keys_left_out;
        all.taken += done->taken;
        if (done->taken == rest.tasks.size()) co_return all;
        rest.tasks.erase(rest.tasks.begin(),
                         rest.tasks.begin() + static_cast<std::ptrdiff_t>(done->taken));
    }
}

http_response answer_too_large(const call& c, const uuid& task) {
    return answer_problem(
        c, problems::task_too_large,
        "Task " + to_string(task) + " has more than 4 MiB of attributes. None was imported.");
}

http_response answer_done(const call& c, const import_tasks::done& done) {
    v1::ImportTasksResult message;
    message.set_imported(done.imported);
    message.set_there_already(done.there_already);
    message.set_keys_left_out(done.keys_left_out);
    return answer_message(c, 200, message);
}

}  // namespace

awaitable<http_response> import_tasks_to(rooms& r, call& c) {
    wire::faults wrong;
    import_tasks command = read_tasks(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    if (const auto* large = too_large(command)) co_return answer_too_large(c, large->uuid);
    auto question = [name = percent_decoded(c.captured[0])](read_tx& tx) {
        return tx.find_account(name);
    };
    const auto owner = co_await r.engine.ask(c.payer(), std::move(question));
    if (!owner) co_return answer_error(c, owner.error());
    if (!*owner) co_return answer_no_account(c);
    command.account = (*owner)->id;
    const auto done = co_await import_step_by_step(r, std::move(command));
    if (!done) co_return answer_error(c, done.error());
    co_return std::visit(
        overloaded{
            [&](const import_tasks::done& counts) { return answer_done(c, counts); },
            [&](no_such_account) { return answer_no_account(c); },
            [&](account_is_opaque) {
                return answer_problem(
                    c, problems::account_opaque,
                    "Nobody here could seal tasks for its clients: set up sync in "
                    "the Taskwarrior that has them.");
            },
            [&](const task_too_large& large) { return answer_too_large(c, large.task); },
        },
        *done);
}

}  // namespace callsign::api
