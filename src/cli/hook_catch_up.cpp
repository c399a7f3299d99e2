// `callsign hook catch-up`: requests the keys of tasks that were created without a server, and sets
// them with `task`. Can be repeated after an interruption: a task always gets the same key, and
// stays in the spool until it has the key.

#include "failure.hpp"
#include "hook.hpp"
#include "key_request.hpp"
#include "key_settings.hpp"
#include "key_spool.hpp"
#include "text.hpp"

#include <callsign/base/text.hpp>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <set>

namespace callsign::cli {
namespace {

// A hook spools its task before Taskwarrior has written it. A task that does not exist after this
// time was never written, or was deleted.
constexpr milliseconds unseen_max = std::chrono::minutes{10};
// Maximum UUIDs on a command line; above it all tasks are exported.
constexpr std::size_t export_uuids_max = 500;

struct catch_up_counts {
    std::int64_t set = 0;
    std::int64_t gone = 0;      // no longer spooled: no such task
    std::int64_t waiting = 0;   // still spooled
    std::int64_t rejected = 0;  // of these
};

// What is needed of an exported task.
struct known_task {
    uuid id{};
    std::string status;
    std::string project;
    std::string entry;
    std::string key;
};

std::string text_of(const boost::json::object& task, std::string_view name) {
    const auto* const found = task.if_contains({name.data(), name.size()});
    const auto* const text = found ? found->if_string() : nullptr;
    return text ? std::string(text->data(), text->size()) : std::string();
}

std::vector<known_task> read_known_tasks(const std::string& text, const std::string& attribute) {
    boost::json::error_code error;
    const boost::json::value read = boost::json::parse(text, error);
    if (error || !read.is_array()) throw failure("cannot parse the output of `task export`");
    std::vector<known_task> tasks;
    for (const boost::json::value& one : read.get_array()) {
        const auto* const task = one.if_object();
        const auto id = task ? parse_uuid(text_of(*task, "uuid")) : std::nullopt;
        if (!id || id->is_nil()) continue;
        tasks.push_back({*id, text_of(*task, "status"), text_of(*task, "project"),
                         text_of(*task, "entry"), text_of(*task, attribute)});
    }
    return tasks;
}

class key_catcher {
  public:
    key_catcher(session& s, const hook_choice& choice)
        : session_(s),
          choice_(choice),
          data_dir_(taskwarrior_data_dir(s, choice)),
          settings_(read_key_settings(data_dir_)),
          spool_(data_dir_) {
        if (!choice.attribute.empty()) settings_.attribute = choice.attribute;
        check_attribute(settings_.attribute);
    }

    const catch_up_counts& counts() const noexcept { return counts_; }

    void run() {
        for (const key_spool::entry& entry : spool_.all()) remembered_[entry.task] = entry.since;
        if (remembered_.empty() && !choice_.all) return;
        const std::vector<known_task> tasks = export_tasks();
        forget_gone(tasks);
        const std::set<std::string> shared = shared_keys(tasks);
        std::vector<const known_task*> keyless;
        for (const known_task& task : tasks) {
            if (task.status == "deleted") continue;
            if (remembered_.contains(task.id) || shared.contains(task.key)) {
                keyless.push_back(&task);
            }
        }
        counts_.waiting = static_cast<std::int64_t>(remembered_.size());
        if (!keyless.empty()) give_keys(keyless);
    }

  private:
    void give_keys(const std::vector<const known_task*>& tasks) {
        const key_server server = find_key_server(session_, settings_);
        for (const known_task* task : tasks) {
            try {
                assign_key(server, *task);
            } catch (const rejection& no) {
                ++counts_.rejected;
                session_.around().err << to_string(task->id) << ": " << no.what() << '\n';
            } catch (const account_is_managed&) {
                while (!remembered_.empty()) forget(remembered_.begin()->first);
                throw;
            }
        }
    }

    void assign_key(const key_server& server, const known_task& task) {
        const std::string key = ask_for_key(
            [&](const http_call& call) {
                return session_.around().exchange(server.url, call, session_.timeout());
            },
            server, task.id, settings_.project ? task.project : "");
        spool_.end_silence();
        if (task.key != key) {
            run_task({to_string(task.id), "modify", settings_.attribute + ":" + key});
            ++counts_.set;
        }
        if (remembered_.contains(task.id)) forget(task.id);
    }

    // Removes deleted tasks, and those that were not seen for long enough.
    void forget_gone(const std::vector<known_task>& tasks) {
        std::map<uuid, std::string> seen;
        for (const known_task& task : tasks) seen[task.id] = task.status;
        const time_point now = session_.around().now();
        const std::map<uuid, time_point> all = remembered_;
        for (const auto& [id, since] : all) {
            const auto found = seen.find(id);
            const bool is_gone =
                found == seen.end() ? now - since >= unseen_max : found->second == "deleted";
            if (!is_gone) continue;
            forget(id);
            ++counts_.gone;
        }
    }

    void forget(const uuid& id) {
        spool_.forget(id);
        remembered_.erase(id);
        counts_.waiting = static_cast<std::int64_t>(remembered_.size());
    }

    // Returns keys of several tasks, and "": a task without a key has none of its own either.
    std::set<std::string> shared_keys(const std::vector<known_task>& tasks) const {
        if (!choice_.all) return {};
        std::set<std::string> once;
        std::set<std::string> shared{""};
        for (const known_task& task : tasks) {
            if (!once.insert(task.key).second) shared.insert(task.key);
        }
        return shared;
    }

    std::vector<known_task> export_tasks() const {
        std::vector<std::string> words;
        if (!choice_.all && remembered_.size() <= export_uuids_max) {
            for (const auto& [id, since] : remembered_) words.push_back(to_string(id));
        }
        words.emplace_back("export");
        std::vector<known_task> tasks = read_known_tasks(run_task(words), settings_.attribute);
        // In the order of creation, in which they are numbered; `entry` has seconds only.
        std::stable_sort(tasks.begin(), tasks.end(), [&](const known_task& x, const known_task& y) {
            return std::pair(x.entry, since(x.id)) < std::pair(y.entry, since(y.id));
        });
        return tasks;
    }

    time_point since(const uuid& id) const {
        const auto found = remembered_.find(id);
        return found == remembered_.end() ? time_point{} : found->second;
    }

    // Avoids prompts, hooks and other actions, and settings in .taskrc that would hide tasks.
    std::string run_task(const std::vector<std::string>& words) const {
        std::vector<std::string> line{choice_.task_program,
                                      "rc.hooks=off",
                                      "rc.confirmation=off",
                                      "rc.recurrence.confirmation=off",
                                      "rc.recurrence=off",
                                      "rc.gc=off",
                                      "rc.bulk=0",
                                      "rc.context=none",
                                      "rc.verbose=nothing",
                                      "rc.json.array=on",
                                      "rc.uda." + settings_.attribute + ".type=string"};
        if (!choice_.data_dir.empty()) line.push_back("rc.data.location=" + data_dir_.string());
        line.insert(line.end(), words.begin(), words.end());
        finished_program done = session_.around().run_program(line);
        if (done.status == 0) return std::move(done.out);
        throw failure(choice_.task_program + " ended with status " + std::to_string(done.status) +
                      ": " + printable(trimmed(done.err, " \r\n")));
    }

    session& session_;
    const hook_choice& choice_;
    const std::filesystem::path data_dir_;
    key_settings settings_;
    const key_spool spool_;
    std::map<uuid, time_point> remembered_;
    catch_up_counts counts_;
};

void show_caught_up(session& s, const catch_up_counts& counts) {
    if (s.json()) {
        return s.print_json(boost::json::serialize(boost::json::object{
            {"set", counts.set}, {"gone", counts.gone}, {"waiting", counts.waiting}}));
    }
    print_fields(s.out(), {{"keys set", std::to_string(counts.set)},
                           {"tasks gone", std::to_string(counts.gone)},
                           {"still waiting", std::to_string(counts.waiting)}});
}

}  // namespace

void catch_up(session& s, const hook_choice& choice) {
    key_catcher catcher(s, choice);
    try {
        catcher.run();
    } catch (const failure&) {
        if (catcher.counts().set > 0) show_caught_up(s, catcher.counts());
        throw;
    }
    show_caught_up(s, catcher.counts());
    if (catcher.counts().rejected > 0) {
        throw failure("the server assigns no key to " + std::to_string(catcher.counts().rejected) +
                      " of the tasks");
    }
}

}  // namespace callsign::cli
