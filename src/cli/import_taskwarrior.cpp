// `callsign import taskwarrior FILE --account ACCOUNT`: all of an export is read and checked before
// any of it is sent. Tasks that are there are left alone, so it can be run again, after an
// interruption or with a newer export.

#include "callsign/v1/callsign.pb.h"
#include "commands.hpp"
#include "failure.hpp"
#include "input.hpp"
#include "taskwarrior_export.hpp"
#include "text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <iterator>
#include <limits>
#include <span>

namespace callsign::cli {
namespace {

// Of one request: what the server takes, and well below the body it takes.
constexpr int batch_tasks_max = 500;
constexpr std::size_t batch_bytes_max = std::size_t{512} * 1024;

taskwarrior_export read_checked(const surroundings& around, const std::string& file) {
    taskwarrior_export read = read_taskwarrior_export(read_input(around, file));
    if (read.faults.empty()) return read;
    std::string text = "the export has faults, and nothing was imported";
    for (const std::string& fault : read.faults) text += "\n  " + printable(fault);
    throw failure(text);
}

v1::ImportedTask message_of(const exported_task& task) {
    v1::ImportedTask message;
    message.set_uuid(to_string(task.uuid));
    for (const auto& [name, value] : task.attributes) (*message.mutable_attributes())[name] = value;
    return message;
}

// Takes as many off the tasks as go into one request, at least one.
v1::ImportTasks take_batch(std::span<const exported_task>& left) {
    v1::ImportTasks batch;
    std::size_t bytes = 0;
    while (!left.empty() && batch.tasks_size() < batch_tasks_max) {
        v1::ImportedTask next = message_of(left.front());
        bytes += wire::encode(wire::format::json, next).size();
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
    std::int64_t keys_left_out = 0;
    std::int64_t keys_kept = 0;
    std::int64_t postponed = 0;
};

totals send_all(session& s, const std::string& account, std::span<const exported_task> left,
                bool with_keys) {
    const std::string target = account_path(account, "/import");
    totals sum{.tasks = left.size()};
    // Without tasks one request goes all the same: the account may not be there.
    do {
        v1::ImportTasks message = take_batch(left);
        message.set_with_keys(with_keys);
        v1::ImportTasksResult result;
        session::read(s.ask(verb::post, target, &message), result);
        sum.imported += result.imported();
        sum.there_already += result.there_already();
        sum.keys_left_out += result.keys_left_out();
        sum.keys_kept += result.keys_kept();
        sum.postponed += result.postponed();
        if (s.around().err_is_terminal) {
            s.around().err << "task " << sum.tasks - left.size() << " of " << sum.tasks << '\n';
        }
    } while (!left.empty());
    return sum;
}

// What an export has brought is all that will come: held series go on behind it.
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
        s.around().err << "Series " << now.prefix() << " goes on at number " << now.next() << ".\n";
    }
}

totals send_with_keys(session& s, const std::string& account,
                      std::span<const exported_task> tasks) {
    totals sum = send_all(s, account, tasks, true);
    resume_held(s, account);
    if (sum.postponed == 0) return sum;
    // They have no key, and get one now.
    const totals rest = send_all(s, account, tasks, true);
    sum.imported += rest.imported;
    sum.keys_left_out += rest.keys_left_out;
    return sum;
}

}  // namespace

void import_taskwarrior(session& s, const std::string& file, const std::string& account,
                        bool with_keys) {
    const taskwarrior_export read = read_checked(s.around(), file);
    const totals sum = with_keys ? send_with_keys(s, account, read.tasks)
                                 : send_all(s, account, read.tasks, false);
    if (sum.keys_left_out > 0) {
        s.around().err << "Tasks that had a key already, and have another now: "
                       << sum.keys_left_out
                       << (with_keys ? "; their numbers are other tasks', or not the next.\n"
                                     : "; keys are the server's, unless --with-keys is given.\n");
    }
    if (s.json()) {
        s.print_json(boost::json::serialize(boost::json::object{{"tasks", sum.tasks},
                                                                {"imported", sum.imported},
                                                                {"thereAlready", sum.there_already},
                                                                {"keysKept", sum.keys_kept}}));
        return;
    }
    print_fields(s.out(), {{"tasks", std::to_string(sum.tasks)},
                           {"imported", std::to_string(sum.imported)},
                           {"here already", std::to_string(sum.there_already)}});
}

}  // namespace callsign::cli
