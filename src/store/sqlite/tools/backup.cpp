// Backups as directories. A crash leaves a backup without a manifest, or a data directory whose
// former store still exists: a restore keeps it.

#include "connection.hpp"
#include "directory_lock.hpp"
#include "durable_files.hpp"
#include "prepare_file.hpp"
#include "tables/migrations.hpp"

#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <boost/algorithm/hex.hpp>
#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace callsign {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using sqlite::connection;
using sqlite::sync_directory;
using sqlite::sync_file;

constexpr const char* database = "callsign.sqlite3";
constexpr const char* manifest_file = "manifest.json";
constexpr std::uintmax_t manifest_bytes_max = 4096;

// ---- the manifest ----

std::string text_of(const backup_manifest& m) {
    const json::object all{{"format", 1},        {"program", m.program},
                           {"schema", m.schema}, {"madeAt", to_rfc3339(m.made_at)},
                           {"bytes", m.bytes},   {"sha256", to_hex(bytes_of(m.sha256))}};
    return json::serialize(all) + "\n";
}

backup_manifest manifest_of(const std::string& text) {
    const json::object all = json::parse(text).as_object();
    if (all.at("format") != 1) throw std::runtime_error("it was written by a newer version");
    backup_manifest m;
    m.program = all.at("program").as_string();
    m.schema = all.at("schema").to_number<std::int64_t>();
    m.bytes = all.at("bytes").to_number<std::int64_t>();
    const auto made_at = parse_rfc3339(std::string_view(all.at("madeAt").as_string()));
    if (!made_at) throw std::runtime_error("the time is malformed");
    m.made_at = *made_at;
    const std::string_view sum = all.at("sha256").as_string();
    if (sum.size() != 2 * m.sha256.size()) throw std::runtime_error("the checksum is malformed");
    boost::algorithm::unhex(sum.begin(), sum.end(), m.sha256.begin());
    return m;
}

// ---- restoring ----

void copy_summed(const fs::path& from, const fs::path& to, const backup_manifest& m) {
    fs::copy_file(from, to);
    fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write);
    std::ifstream in(to, std::ios::binary);
    const digest sum = sha256(in);
    if (static_cast<std::int64_t>(fs::file_size(to)) != m.bytes || sum != m.sha256) {
        throw std::runtime_error(from.string() +
                                 " does not match the manifest: the backup is damaged");
    }
}

// Checkpoints the WAL into the file.
void merge_log(const fs::path& file) {
    connection db(file, SQLite::OPEN_READWRITE, std::size_t{2} << 20);
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

std::string first_of(const std::vector<check_report::fault>& faults) {
    return faults.front().invariant + ": " + faults.front().text;
}

}  // namespace

fs::path begin_backup(const fs::path& dir) {
    if (!dir.is_absolute()) throw std::runtime_error("must be an absolute path");
    std::error_code failed;
    fs::create_directory(dir, failed);
    if (failed) {
        throw std::runtime_error("cannot make " + dir.string() + ": " + failed.message());
    }
    if (!fs::is_empty(dir)) throw std::runtime_error(dir.string() + " is not empty");
    fs::permissions(dir, fs::perms::owner_all);
    return dir / database;
}

backup_manifest finish_backup(const fs::path& dir, time_point made_at, std::string program) {
    const fs::path copy = dir / database;
    backup_manifest m{.program = std::move(program), .made_at = made_at};
    {
        connection db(copy, SQLite::OPEN_READONLY, std::size_t{1} << 20);
        m.schema = db.integer_of("PRAGMA user_version");
    }
    // The reader of the schema version left these files.
    for (const char* left : {"-wal", "-shm"}) fs::remove(copy.string() + left);
    sync_file(copy);
    std::ifstream in(copy, std::ios::binary);
    m.bytes = static_cast<std::int64_t>(fs::file_size(copy));
    m.sha256 = sha256(in);
    sqlite::write_durably(dir / manifest_file, text_of(m));
    sync_directory(dir.parent_path());
    return m;
}

void discard_backup(const fs::path& dir) {
    for (const char* left : {manifest_file, "manifest.json.new", database}) fs::remove(dir / left);
    for (const char* left : {"-wal", "-shm", "-journal"}) {
        fs::remove((dir / database).string() + left);
    }
    fs::remove(dir);
}

std::vector<fs::path> list_backups(const fs::path& parent) {
    std::vector<fs::path> all;
    if (!fs::exists(parent)) return all;
    for (const auto& each : fs::directory_iterator(parent)) {
        const bool is_whole = fs::exists(each.path() / manifest_file);
        if (is_whole && time_of_backup(each.path().filename().string())) all.push_back(each.path());
    }
    std::ranges::sort(all);
    return all;
}

backup_manifest read_manifest(const fs::path& dir) {
    const fs::path file = dir / manifest_file;
    if (!fs::exists(file)) {
        throw std::runtime_error("there is no backup in " + dir.string() + ": " + manifest_file +
                                 ", which is written last, is missing");
    }
    if (fs::file_size(file) > manifest_bytes_max) {
        throw std::runtime_error(file.string() + " is not a manifest");
    }
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    try {
        return manifest_of(text);
    } catch (const std::exception& wrong) {
        throw std::runtime_error(file.string() + " is not a manifest: " + wrong.what());
    }
}

restored_store restore_sqlite(const fs::path& backup, const fs::path& data_dir, time_point now,
                              const auditor& audit, const std::function<void(store&)>& make_another,
                              const findings::progress& progress) {
    restored_store done{read_manifest(backup), {}};
    const auto known = static_cast<std::int64_t>(sqlite::migrations().size());
    if (done.manifest.schema > known) {
        throw std::runtime_error("the backup is of callsignd " + done.manifest.program +
                                 ", which is newer than this program");
    }
    const fs::path old = sqlite::prepare_directory(data_dir);
    const sqlite::directory_lock mine(data_dir / "callsign.lock");
    const fs::path fresh = data_dir / "restoring";
    fs::remove_all(fresh);  // of an interrupted restore
    fs::create_directory(fresh);
    fs::permissions(fresh, fs::perms::owner_all);
    progress("the copy");
    copy_summed(backup / database, fresh / database, done.manifest);
    bool is_lost = false;
    make_another(*open_sqlite({.data_dir = fresh, .lost_at_close = [&] { is_lost = true; }}));
    if (is_lost) throw std::runtime_error("cannot write " + fresh.string() + ": a sync failed");
    const check_report report = check_sqlite(fresh, audit, progress);
    if (!report.ok()) {
        throw std::runtime_error("the backup is not sound: " + first_of(report.faults));
    }
    merge_log(fresh / database);
    sync_file(fresh / database);

    // The former file is kept under another name; then the new file takes its name.
    progress("what was there before");
    try {
        if (fs::exists(old)) merge_log(old);
    } catch (const std::exception&) {
        // The former file is kept with its WAL.
    }
    done.kept = data_dir / ("before-restore-" + backup_name(now));
    fs::create_directory(done.kept);
    fs::permissions(done.kept, fs::perms::owner_all);
    for (const char* rest : {"", "-wal"}) {
        const std::string name = database + std::string(rest);
        if (fs::exists(data_dir / name)) {
            fs::create_hard_link(data_dir / name, done.kept / name);
        }
    }
    if (fs::exists(data_dir / "admin.token")) {
        fs::rename(data_dir / "admin.token", done.kept / "admin.token");
    }
    sync_directory(done.kept);
    sync_directory(data_dir);
    for (const char* rest : {"-wal", "-shm"}) fs::remove(old.string() + rest);
    fs::rename(fresh / database, old);
    sync_directory(data_dir);
    fs::remove_all(fresh);
    return done;
}

}  // namespace callsign
