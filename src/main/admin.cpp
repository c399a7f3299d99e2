#include "no_dumps.hpp"
#include "setup/doctor/doctor.hpp"

#include <callsign/cli/cli.hpp>
#include <callsign/domain/task_faults.hpp>
#include <callsign/rules/audit.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>
#include <callsign/store/taskchampion_file.hpp>

#include <algorithm>
#include <random>

namespace {

using namespace callsign;

uuid drawn_uuid(time_point now) {
    std::random_device source;
    const std::uint64_t low = source(), high = source();
    return make_uuid_v7(now, 0, high << 32 | low);
}

// For commands that create nothing with an ID.
class no_ids final : public rules::id_source {
  public:
    uuid next(time_point) override { return {}; }
};

}  // namespace

int main(int argc, char** argv) {
    keep_out_of_dumps();
    local_files files;
    files.check = [](const auto& data_dir, time_point now, const auto& progress) {
        return check_sqlite(data_dir, rules::audit, progress, now - incomplete_after);
    };
    files.repair_clock = repair_sqlite_clock;
    files.restore = [](const auto& backup, const auto& data_dir, time_point now,
                       const auto& progress) {
        const time_point made_at = read_manifest(backup).made_at;
        std::int64_t held = 0;
        const auto another = [&](store& restored) {
            const time_point at = std::max(now, restored.totals()->last_moment);
            no_ids none;
            const auto tx = restored.begin_write();
            const mark_restored command{drawn_uuid(at), made_at};
            held = rules::apply(*tx, command, {.now = at, .ids = none}).held;
            tx->commit();
        };
        auto done = restore_sqlite(backup, data_dir, now, rules::audit, another, progress);
        return restored_backup{std::move(done.manifest), std::move(done.kept), held};
    };
    files.open_taskchampion_file = open_taskchampion_file;
    files.doctor = setup::examine;
    return cli::run(argc, argv, std::move(files));
}
