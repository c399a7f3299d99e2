// `callsign import taskwarrior FILE --account ACCOUNT`: the whole export is read and checked before
// any task is sent, and keys to be kept are checked by the server before any is imported. Existing
// complete tasks are left alone, so the command can be repeated after an interruption or with a
// newer export.

#include "callsign/v1/callsign.pb.h"
#include "commands.hpp"
#include "failure.hpp"
#include "input.hpp"
#include "progress.hpp"
#include "taskwarrior_export.hpp"
#include "text.hpp"

#include <callsign/domain/commands/creation.hpp>
#include <callsign/domain/task_faults.hpp>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <tuple>

namespace callsign::cli {
namespace {

// Limits of a request: the server's, and well below its body limit.
constexpr int batch_tasks_max = 500;
constexpr std::size_t batch_bytes_max = std::size_t{512} * 1024;
// Maximum per task, so that a request can hold it: the default of http.body_bytes_max, less the
// rest of the request.
constexpr std::size_t task_bytes_sent_max = (std::size_t{1} << 20) - 256;

[[noreturn]] void reject_export(std::string text, const std::vector<std::string>& faults) {
    for (const std::string& fault : faults) text += "\n  " + printable(fault);
    throw failure(text);
}

// A task to be sent. With keys, `after` is the number before its own in the export.
struct placed_task {
    const exported_task* task;
    std::optional<task_key> key{};
    std::int64_t after = 0;
};

v1::ImportedTask task_message(const placed_task& placed) {
    const exported_task& task = *placed.task;
    v1::ImportedTask message;
    message.set_uuid(to_string(task.uuid));
    for (const auto& [name, value] : task.attributes) (*message.mutable_attributes())[name] = value;
    if (placed.after > 0) message.set_after(placed.after);
    return message;
}

std::size_t bytes_of(const v1::ImportedTask& message) {
    return wire::encode(wire::format::json, message).size();
}

// Finds errors for which the server would reject a batch after it has imported earlier ones.
void check_tasks(taskwarrior_export& read) {
    for (const exported_task& task : read.tasks) {
        for (const task_fault& each : faults_of(task.attributes)) {
            read.faults.push_back(task.place + ": " + each.attribute + ": " +
                                  std::string(each.detail));
        }
        if (task.attributes.size() > task_attributes_max) {
            read.faults.push_back(task.place + ": more than 10000 attributes");
        } else if (bytes_of(task_message({&task})) > task_bytes_sent_max) {
            read.faults.push_back(task.place + ": larger than 1 MiB");
        }
    }
}

taskwarrior_export read_checked(const cli_context& around, const std::string& file) {
    taskwarrior_export read = read_taskwarrior_export(read_input(around, file));
    check_tasks(read);
    if (!read.faults.empty()) {
        reject_export("the export has errors; nothing was imported", read.faults);
    }
    return read;
}

// Takes as many tasks as fit into one request, at least one.
v1::ImportTasks take_batch(std::span<const placed_task>& left) {
    v1::ImportTasks batch;
    std::size_t bytes = 0;
    while (!left.empty() && batch.tasks_size() < batch_tasks_max) {
        v1::ImportedTask next = task_message(left.front());
        bytes += bytes_of(next);
        if (batch.tasks_size() > 0 && bytes > batch_bytes_max) break;
        *batch.add_tasks() = std::move(next);
        left = left.subspan(1);
    }
    return batch;
}

struct totals {
    std::size_t tasks = 0;
    std::int64_t imported = 0;
    std::int64_t there_already = 0;
    std::int64_t completed = 0;
    std::int64_t keys_left_out = 0;
    std::int64_t keys_kept = 0;
};

// Returns the tasks in the order of sending: by key, then those without one. Throws failure if two
// tasks have the same key.
std::vector<placed_task> place_tasks(const taskwarrior_export& read,
                                     const std::string& key_attribute) {
    std::vector<placed_task> all;
    for (const exported_task& task : read.tasks) {
        placed_task& p = all.emplace_back(placed_task{&task});
        const auto ref = parse_task_ref(value_of(task.attributes, key_attribute));
        if (const auto* const key = ref ? std::get_if<task_key>(&*ref) : nullptr) p.key = *key;
    }
    const auto place = [](const placed_task& p) {
        return std::tie(p.key->prefix, p.key->period, p.key->number);
    };
    std::stable_sort(all.begin(), all.end(), [&](const placed_task& a, const placed_task& b) {
        return a.key && (!b.key || place(a) < place(b));
    });
    std::vector<std::string> faults;
    for (std::size_t i = 1; i < all.size() && all[i].key; ++i) {
        const task_key& before = *all[i - 1].key;
        const task_key& its = *all[i].key;
        if (before == its) {
            faults.push_back("task " + to_string(all[i].task->uuid) + " has the key of task " +
                             to_string(all[i - 1].task->uuid));
        }
        if (before.prefix == its.prefix && before.period == its.period) {
            all[i].after = before.number;
        }
    }
    if (!faults.empty()) reject_export("the export has errors; nothing was imported", faults);
    return all;
}

// Adds the errors of a rejected request by task. A missing series is reported once, with a count.
void collect_task_faults(const rejection& no, std::span<const placed_task> tasks,
                         std::map<std::string, std::int64_t>& missing,
                         std::vector<std::string>& faults) {
    v1::Problem problem;
    session::read(no.answer(), problem);
    if (problem.code() != "numbers-rejected") throw no;
    for (const v1::FieldProblem& error : problem.errors()) {
        constexpr std::string_view start = "tasks[";
        const std::string& field = error.field();
        std::size_t at = tasks.size();
        if (field.starts_with(start)) {
            std::from_chars(field.data() + start.size(), field.data() + field.size(), at);
        }
        if (at >= tasks.size()) {
            faults.push_back(field + ": " + error.detail());
        } else if (error.code() == "unknown-prefix" && tasks[at].key) {
            ++missing[tasks[at].key->prefix];
        } else {
            faults.push_back("task " + to_string(tasks[at].task->uuid) + ", " + error.detail());
        }
    }
}

// Sends a request even without tasks: the account may not exist.
totals send_all(session& s, const std::string& account, std::span<const placed_task> left,
                const v1::ImportTasks& how) {
    const std::string target = account_path(account, "/import");
    totals sum{.tasks = left.size()};
    std::map<std::string, std::int64_t> missing;
    std::vector<std::string> faults;
    progress_line line(s.around());
    do {
        const std::span<const placed_task> from = left;
        v1::ImportTasks message = take_batch(left);
        message.MergeFrom(how);
        v1::ImportTasksResult result;
        try {
            session::read(s.ask(verb::post, target, &message), result);
        } catch (const rejection& no) {
            collect_task_faults(no, from, missing, faults);
            if (!how.check_only()) break;
        }
        sum.imported += result.imported();
        sum.there_already += result.there_already();
        sum.completed += result.completed();
        sum.keys_left_out += result.keys_left_out();
        sum.keys_kept += result.keys_kept();
        line.show(std::string(how.check_only() ? "checked " : "") + "task " +
                  std::to_string(sum.tasks - left.size()) + " of " + std::to_string(sum.tasks));
    } while (!left.empty());
    if (missing.empty() && faults.empty()) return sum;
    std::string text = how.check_only() || sum.imported == 0
                           ? "keys of the export cannot be kept; nothing was imported"
                           : "the series changed during the import; " +
                                 std::to_string(sum.imported) + " tasks were imported before";
    for (const auto& [prefix, tasks] : missing) {
        text += "\n  series " + prefix + " does not exist; " + std::to_string(tasks) +
                (tasks == 1 ? " task has" : " tasks have") + " a key of it";
    }
    reject_export(std::move(text), faults);
}

v1::ImportTasks keys_to_be(bool checked_only) {
    v1::ImportTasks how;
    how.set_with_keys(true);
    if (checked_only) how.set_check_only(true);
    return how;
}

// Returns the server's key attribute. The account may not exist.
std::string key_attribute_of(session& s, const std::string& account) {
    const v1::ImportTasks none = keys_to_be(true);
    v1::ImportTasksResult result;
    session::read(s.ask(verb::post, account_path(account, "/import"), &none), result);
    if (result.key_attribute().empty()) {
        throw failure(
            "the server has no key attribute (tasks.key_attribute), so an export contains no keys");
    }
    return result.key_attribute();
}

// Held series are resumed after the numbers of the export, which is complete.
void resume_held(session& s, const std::string& account) {
    const auto list =
        s.ask_pages(account_path(account, "/series"), std::numeric_limits<std::int64_t>::max(),
                    &v1::SeriesList::series_size);
    for (const v1::Series& each : list.series()) {
        if (!each.held()) continue;
        const std::string path = "/series/" + percent_encode(each.prefix()) + "/resume";
        v1::Series now;
        const v1::ResumeSeries behind_the_last;
        session::read(s.ask(verb::post, account_path(account, path), &behind_the_last), now);
        s.around().err << "Series " << now.prefix() << " resumes at number " << now.next() << ".\n";
    }
}

// All keys are checked before the first task is imported.
totals send_with_keys(session& s, const std::string& account, const taskwarrior_export& read) {
    const std::vector<placed_task> tasks = place_tasks(read, key_attribute_of(s, account));
    send_all(s, account, tasks, keys_to_be(true));
    const totals sum = send_all(s, account, tasks, keys_to_be(false));
    // This also numbers tasks without a key.
    resume_held(s, account);
    return sum;
}

totals send_without_keys(session& s, const std::string& account, const taskwarrior_export& read) {
    std::vector<placed_task> tasks;
    for (const exported_task& task : read.tasks) tasks.push_back({&task});
    v1::ImportTasks how;
    how.set_with_keys(false);
    return send_all(s, account, tasks, how);
}

}  // namespace

void import_taskwarrior(session& s, const std::string& file, const std::string& account,
                        bool with_keys) {
    const taskwarrior_export read = read_checked(s.around(), file);
    const totals sum =
        with_keys ? send_with_keys(s, account, read) : send_without_keys(s, account, read);
    if (sum.keys_left_out > 0) {
        s.around().err << "Tasks that received a new key in place of their own: "
                       << sum.keys_left_out << " (--with-keys keeps them)\n";
    }
    if (s.json()) {
        s.print_json(boost::json::serialize(boost::json::object{{"tasks", sum.tasks},
                                                                {"imported", sum.imported},
                                                                {"thereAlready", sum.there_already},
                                                                {"completed", sum.completed},
                                                                {"keysKept", sum.keys_kept}}));
        return;
    }
    print_fields(s.out(), {{"tasks", std::to_string(sum.tasks)},
                           {"imported", std::to_string(sum.imported)},
                           {"completed", std::to_string(sum.completed)},
                           {"known", std::to_string(sum.there_already)}});
}

}  // namespace callsign::cli
