// `callsign backup DIR` sends a request to a running server; `callsign restore DIR` works on the
// files, while none runs.

#include "callsign/v1/callsign.pb.h"
#include "commands.hpp"
#include "failure.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <future>

namespace callsign::cli {
namespace {

constexpr const char* backups_target = "/v1/admin/backups";
// For a large store on a slow disk.
constexpr milliseconds backup_patience = std::chrono::hours{24};

void tell_backup(session& s, progress_line& line) {
    v1::BackupStatus status;
    try {
        session::read(s.ask(verb::get, backups_target), status);
    } catch (const failure&) {
        return;  // the parallel request reports the error
    }
    if (!status.running() || status.total() == 0) return;
    line.show(std::to_string(100 * status.copied() / status.total()) + " % copied");
}

}  // namespace

void make_backup(session& s, const std::filesystem::path& dir) {
    v1::MakeBackup body;
    body.set_directory(std::filesystem::absolute(dir).lexically_normal().string());
    s.ask(verb::get, backups_target);  // finds the server, before two threads use the session
    auto done = std::async(std::launch::async, [&] {
        return s.ask(verb::post, backups_target, &body, backup_patience);
    });
    progress_line line(s.around());
    while (done.wait_for(line.between_looks()) == std::future_status::timeout) {
        tell_backup(s, line);
    }
    line.clear();
    const std::string text = done.get();
    if (s.json()) return s.print_json(text);
    v1::Backup made;
    session::read(text, made);
    print_fields(s.out(), {{"directory", made.directory()},
                           {"made", time_text(made.has_made_at(), made.made_at())},
                           {"bytes", std::to_string(made.bytes())},
                           {"sha256", made.sha256()}});
    s.out() << "The backup does not contain the master key: back it up separately.\n";
}

void restore(session& s, const std::filesystem::path& backup, bool yes) {
    if (s.options().data_dir.empty()) {
        throw failure("--data-dir DIR is required", exit_status::not_understood);
    }
    const std::filesystem::path dir = s.data_dir();
    confirm(s, yes,
            "Replace the store in " + dir.string() + " with the backup in " + backup.string() + "?",
            "a restore replaces the store in " + dir.string() + " (and keeps a copy beside it)");
    progress_line line(s.around());
    const auto progress = [&](std::string_view what) {
        line.show("checking " + std::string(what) + " ...");
    };
    const restored_backup done = s.around().files.restore(backup, dir, s.around().now(), progress);
    line.clear();
    if (s.json()) {
        return s.print_json(boost::json::serialize(
            boost::json::object{{"madeAt", to_rfc3339(done.manifest.made_at)},
                                {"kept", done.kept.string()},
                                {"seriesHeld", done.series_held}}));
    }
    print_fields(s.out(), {{"backup of", to_rfc3339(done.manifest.made_at)},
                           {"data directory", dir.string()},
                           {"kept", done.kept.string()},
                           {"series held", std::to_string(done.series_held)}});
    s.out()
        << "Numbers assigned after the backup may be in use, so all series are held. Resume each "
           "one:\ncallsign series resume PREFIX --account NAME --at N\n";
}

}  // namespace callsign::cli
