// `callsign hook on-add` and `on-modify`, which Taskwarrior runs for each task it writes.

#include "hook.hpp"

#include "failure.hpp"
#include "key_request.hpp"
#include "key_settings.hpp"
#include "key_spool.hpp"
#include "task_line.hpp"
#include "text.hpp"

#include <callsign/base/text.hpp>

#include <algorithm>

namespace callsign::cli {
namespace {

constexpr std::size_t feedback_bytes_max = 200;

struct hook_input {
    std::string before;  // of a task that is modified
    std::string task;
};

hook_input read_hook_input(std::istream& in, hook_event event) {
    hook_input input;
    std::getline(in, input.task);
    if (event == hook_event::add) return input;
    input.before = input.task;
    std::string second;
    // A single line is taken for the task, which is better than no task.
    if (std::getline(in, second)) input.task = std::move(second);
    return input;
}

// Prints the task, and one line for the user that Taskwarrior cannot take for a task.
void answer_taskwarrior(std::ostream& out, const std::string& task, const std::string& feedback) {
    if (!task.empty()) out << task << '\n';
    std::string line = printable(feedback.substr(0, feedback.find('\n')));
    if (line.size() > feedback_bytes_max) line = line.substr(0, feedback_bytes_max) + " ...";
    if (!line.empty()) out << line << '\n';
    out.flush();
}

// Returns the value that Taskwarrior passed as NAME:VALUE.
std::string word(const hook_choice& choice, std::string_view name) {
    for (const std::string& each : choice.words) {
        if (each.starts_with(name)) return each.substr(name.size());
    }
    return {};
}

// A task in a hook.
class task_hook {
  public:
    task_hook(const session& s, hook_event event, const hook_choice& choice, hook_input input)
        : session_(s),
          event_(event),
          choice_(choice),
          input_(std::move(input)),
          data_dir_(find_data_dir()) {}

    void run() {
        auto task = task_line::parse(input_.task);
        const auto id = task ? parse_uuid(task->text_of("uuid")) : std::nullopt;
        if (!id || id->is_nil()) return;
        try {
            settle(*id, *task);
        } catch (const account_is_managed& e) {
            feedback_ = e.what();
        } catch (const std::exception& e) {
            take_off_a_key_of_another(*task);
            remember(*id, e);
        }
        input_.task = task->text();
    }

    const std::string& task() const noexcept { return input_.task; }
    const std::string& feedback() const noexcept { return feedback_; }

  private:
    // `task` cannot be run to find it: it waits for this hook.
    std::filesystem::path find_data_dir() const {
        for (const std::string& dir :
             {word(choice_, "data:"), choice_.data_dir, variable(session_.around(), "TASKDATA")}) {
            if (!dir.empty()) return dir;
        }
        return std::filesystem::path(variable(session_.around(), "HOME")) / ".task";
    }

    void settle(const uuid& id, task_line& task) {
        const key_settings settings = read_key_settings(data_dir_);
        const std::string& name =
            choice_.attribute.empty() ? settings.attribute : choice_.attribute;
        check_attribute(name);
        attribute_ = name;
        if (event_ == hook_event::modify && keep_key(task)) return;
        if (task.text_of("status") == "deleted") return;
        const std::string key = ask(settings, id, settings.project ? task.text_of("project") : "");
        if (task.text_of(attribute_) == key) return;
        task.set(attribute_, key);
        feedback_ = key;
    }

    // Keeps the key that the task had before, if any.
    bool keep_key(task_line& task) {
        const auto before = task_line::parse(input_.before);
        if (!before || !before->has(attribute_)) return false;
        const std::string as_modified = task.text();
        task.copy(attribute_, *before);
        if (task.text() != as_modified) {
            feedback_ = "The key stays " + before->text_of(attribute_) + ".";
        }
        return true;
    }

    std::string ask(const key_settings& settings, const uuid& id,
                    const std::string& project) const {
        const cli_context& around = session_.around();
        const key_server server = find_key_server(session_, settings);
        const milliseconds timeout = patience_of(settings);
        const key_spool spool(data_dir_);
        if (spool.was_silent(around.now())) {
            throw failure("the server did not respond to the last request");
        }
        std::string key = ask_for_key(
            [&](const http_call& call) {
                return around.exchange_in_time(server.url, call, timeout);
            },
            server, id, project);
        spool.end_silence();
        return key;
    }

    milliseconds patience_of(const key_settings& settings) const {
        if (!session_.options().timeout.empty()) return session_.timeout();
        const auto timeout = parse_duration(settings.timeout);
        if (timeout && timeout->count() > 0) return *timeout;
        throw failure("the timeout must be a duration such as 1s, not " + settings.timeout);
    }

    // Removes a key that the server has not confirmed: Taskwarrior copies all attributes to
    // duplicates and recurrences, so a new key may be another task's. An import keeps the user's.
    void take_off_a_key_of_another(task_line& task) const {
        if (attribute_.empty() || word(choice_, "command:") == "import") return;
        task.remove(attribute_);
    }

    void remember(const uuid& id, const std::exception& why) {
        const time_point now = session_.around().now();
        const key_spool spool(data_dir_);
        try {
            spool.remember(id, now);
            feedback_ = std::string("No key yet: ") + why.what();
        } catch (const std::exception& e) {
            feedback_ = std::string("No key, and the request is not stored: ") + e.what();
        }
        if (dynamic_cast<const too_late*>(&why)) spool.note_silence(now);
    }

    const session& session_;
    const hook_event event_;
    const hook_choice& choice_;
    hook_input input_;
    const std::filesystem::path data_dir_;
    std::string attribute_;  // set once it is known
    std::string feedback_;
};

}  // namespace

std::optional<hook_event> hook_event_of(const std::vector<std::string>& words) {
    const auto hook = std::find(words.begin(), words.end(), "hook");
    if (hook == words.end() || hook + 1 == words.end()) return std::nullopt;
    if (hook[1] == "on-add") return hook_event::add;
    if (hook[1] == "on-modify") return hook_event::modify;
    return std::nullopt;
}

void run_hook(session& s, hook_event event, const hook_choice& choice) {
    hook_input input = read_hook_input(s.around().in, event);
    const std::string as_it_came = input.task;
    try {
        task_hook hook(s, event, choice, std::move(input));
        hook.run();
        answer_taskwarrior(s.out(), hook.task(), hook.feedback());
    } catch (const std::exception& e) {
        answer_taskwarrior(s.out(), as_it_came, std::string("No key: ") + e.what());
    }
}

void let_pass(const cli_context& around, hook_event event, const std::string& why) {
    const hook_input input = read_hook_input(around.in, event);
    answer_taskwarrior(around.out, input.task, "No key: " + why);
}

}  // namespace callsign::cli
