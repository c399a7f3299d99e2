#include "move_store.hpp"
#include "no_dumps.hpp"
#include "setup/doctor/doctor.hpp"

#include <callsign/cli/cli.hpp>
#include <callsign/rules/audit.hpp>
#include <callsign/store/sqlite.hpp>
#include <callsign/store/taskchampion_file.hpp>

#include <utility>

using namespace callsign;

int main(int argc, char** argv) {
    keep_out_of_dumps();
    local_files files;
    files.check = check_store;
    files.move = move_store;
    files.mark_restored = mark_database_restored;
    files.repair_clock = repair_sqlite_clock;
    files.restore = [](const auto& backup, const auto& data_dir, time_point now,
                       const auto& progress) {
        const time_point made_at = read_manifest(backup).made_at;
        std::int64_t held = 0;
        const auto another = [&](store& restored) {
            held = mark_restored_in(restored, made_at, now);
        };
        auto done = restore_sqlite(backup, data_dir, now, rules::audit, another, progress);
        return restored_backup{std::move(done.manifest), std::move(done.kept), held};
    };
    files.open_taskchampion_file = open_taskchampion_file;
    files.doctor = setup::examine;
    return cli::run(argc, argv, std::move(files));
}
