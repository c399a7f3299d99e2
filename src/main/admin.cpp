#include "no_dumps.hpp"

#include <callsign/cli/cli.hpp>
#include <callsign/rules/audit.hpp>
#include <callsign/store/sqlite.hpp>
#include <callsign/store/taskchampion_file.hpp>

int main(int argc, char** argv) {
    using namespace callsign;
    keep_out_of_dumps();
    local_files files;
    files.check = [](const auto& data_dir, const auto& progress) {
        return check_sqlite(data_dir, rules::audit, progress);
    };
    files.repair_clock = repair_sqlite_clock;
    files.open_taskchampion_file = open_taskchampion_file;
    return cli::run(argc, argv, std::move(files));
}
