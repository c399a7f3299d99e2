// `callsign move --from PLACE --to PLACE` and `callsign restored --store URL`, on stores that no
// server has open.

#include "commands.hpp"
#include "failure.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace callsign::cli {
namespace {

namespace json = boost::json;

bool is_database(std::string_view place) {
    return place.starts_with("postgresql://") || place.starts_with("postgres://");
}

store_place place_of(const std::string& text) {
    if (is_database(text)) return {{}, text};
    return {std::filesystem::absolute(text).lexically_normal(), {}};
}

}  // namespace

std::string shown_place(const store_place& place) {
    if (place.url.empty()) return place.data_dir.string();
    // Without the user and the password.
    const auto begin = place.url.find("://") + 3;
    const auto user = place.url.find('@', begin);
    const auto end = place.url.find('?', begin);
    const auto from = user < end ? user + 1 : begin;
    return "postgresql://" + place.url.substr(from, end == std::string::npos ? end : end - from);
}

bool move_store(session& s, const store_move& choice) {
    const store_place from = place_of(choice.from), to = place_of(choice.to);
    if (from.url.empty() == to.url.empty()) {
        throw failure("One of --from and --to must be a data directory, the other a URL.",
                      exit_status::not_understood);
    }
    confirm(s, choice.yes,
            "Move the store in " + shown_place(from) + " to " + shown_place(to) +
                "? No server may run on either.",
            "this moves the store in " + shown_place(from) + " to " + shown_place(to));
    progress_line line(s.around());
    const auto progress = [&](std::string_view what) { line.show(std::string(what) + " ..."); };
    const moved_store done = s.around().files.move(from, to, s.around().now(), progress);
    line.clear();
    const bool ok = done.from.ok() && done.to.ok();
    if (s.json()) {
        s.print_json(json::serialize(
            json::object{{"moved", ok},
                         {"rows", done.rows},
                         {"faults", done.from.faults.size() + done.to.faults.size()}}));
        return ok;
    }
    s.out() << "Rows copied: " << done.rows << ".\n";
    for (const auto* report : {&done.from, &done.to}) {
        for (const auto& [invariant, text] : report->faults) {
            s.out() << shown_place(report == &done.from ? from : to) << ": " << invariant << ": "
                    << text << '\n';
        }
    }
    s.out() << (ok ? "Both stores are verified. The store is now in " + shown_place(to) + ".\n"
                   : "The store was not moved: it violates the guarantees above.\n");
    return ok;
}

void mark_restored(session& s, const std::string& url, bool yes) {
    if (!is_database(url)) {
        throw failure("--store must be a URL such as postgresql://host/database.",
                      exit_status::not_understood);
    }
    const std::string place = shown_place({{}, url});
    confirm(s, yes, "Hold all series in " + place + ", as after a restore?",
            "this holds all series in " + place);
    const std::int64_t held = s.around().files.mark_restored(url, s.around().now());
    if (s.json()) return s.print_json(json::serialize(json::object{{"seriesHeld", held}}));
    print_fields(s.out(), {{"database", place}, {"series held", std::to_string(held)}});
    s.out() << "Resume each series:\ncallsign series resume PREFIX --account NAME --at N\n";
}

}  // namespace callsign::cli
