#include "commands.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace callsign::cli {
namespace {

namespace json = boost::json;

// The clock was wrong once, or is wrong now. No invariant is violated, so this is no error.
std::string clock_note(const check_report& report, time_point now) {
    constexpr milliseconds noticed = std::chrono::minutes{1};
    if (report.last_moment < now + noticed) return {};
    return "The latest time in the store is " + to_rfc3339(report.last_moment) +
           ", and this machine's clock says " + to_rfc3339(now) +
           ". If the clock is right: callsign repair-clock, while no server runs.";
}

std::string report_json(const check_report& report, std::string note) {
    json::object checked;
    for (const auto& [name, rows] : report.checked) checked[name] = rows;
    json::array faults;
    for (const auto& [invariant, text] : report.faults) {
        faults.push_back(json::object{{"invariant", invariant}, {"text", text}});
    }
    json::object all{
        {"ok", report.ok()}, {"checked", std::move(checked)}, {"faults", std::move(faults)}};
    if (report.incomplete_count > 0) {
        json::array incomplete;
        for (const auto& [account, key, id] : report.incomplete) {
            incomplete.push_back(
                json::object{{"account", account}, {"key", key}, {"uuid", to_string(id)}});
        }
        all["incomplete"] = std::move(incomplete);
        all["incompleteCount"] = report.incomplete_count;
    }
    if (!note.empty()) all["note"] = std::move(note);
    return json::serialize(all);
}

// No invariant is violated, and the device still has what it had.
void show_incomplete(session& s, const check_report& report) {
    if (report.incomplete_count == 0) return;
    std::vector<row> rows;
    for (const auto& [account, key, id] : report.incomplete) {
        rows.push_back({key, account, to_string(id)});
    }
    print_table(s.out(), {"INCOMPLETE", "ACCOUNT", "UUID"}, rows);
    const std::int64_t more = report.incomplete_count - std::ssize(report.incomplete);
    if (more > 0) s.out() << "and " << more << " more.\n";
    s.out()
        << "Incomplete tasks lack a description or a status: a sync was interrupted. Import the "
           "task export of the device that created them (docs/operations.md, Incomplete "
           "tasks).\n";
}

void show_report(session& s, const check_report& report, const std::string& note) {
    std::vector<row> counts;
    for (const auto& [name, rows] : report.checked) counts.push_back({name, std::to_string(rows)});
    print_table(s.out(), {"CHECKED", "ROWS"}, counts);
    std::vector<row> faults;
    for (const auto& [invariant, text] : report.faults) faults.push_back({invariant, text});
    print_table(s.out(), {"BROKEN", "WHERE"}, faults);
    if (report.faults.size() == check_report::faults_max) {
        s.out() << "Only the first are shown.\n";
    }
    show_incomplete(s, report);
    if (!note.empty()) s.out() << note << '\n';
    if (report.ok()) s.out() << "Guarantees I1, I2, I3, I4 and I6 are verified.\n";
}

}  // namespace

bool check(session& s, const std::string& url) {
    const store_place place{url.empty() ? s.data_dir() : std::filesystem::path(), url};
    progress_line line(s.around());
    const auto progress = [&](std::string_view name) {
        line.show("checking " + std::string(name) + " ...");
    };
    const check_report report = s.around().files.check(place, s.around().now(), progress);
    line.clear();
    const std::string note = clock_note(report, s.around().now());
    if (s.json()) {
        s.print_json(report_json(report, note));
    } else {
        show_report(s, report, note);
    }
    return report.ok();
}

}  // namespace callsign::cli
