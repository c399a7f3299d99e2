#pragma once
// The data file of TaskChampion's reference server, taskchampion-sync-server.

#include <SQLiteCpp/SQLiteCpp.h>
#include <cstdint>
#include <filesystem>
#include <string>

namespace callsign::testing {

class reference_file {
  public:
    explicit reference_file(const std::filesystem::path& file)
        : db_(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {
        db_.exec("PRAGMA journal_mode = WAL");
        db_.exec(
            "CREATE TABLE clients (client_id STRING PRIMARY KEY, latest_version_id STRING,"
            " snapshot_version_id STRING, versions_since_snapshot INTEGER,"
            " snapshot_timestamp INTEGER, snapshot BLOB)");
        db_.exec(
            "CREATE TABLE versions (version_id STRING PRIMARY KEY, client_id STRING,"
            " parent_version_id STRING, history_segment BLOB)");
        db_.exec("CREATE INDEX versions_by_parent ON versions (parent_version_id)");
    }
    void add_client(const std::string& id) {
        SQLite::Statement q(db_, "INSERT INTO clients (client_id) VALUES (?)");
        q.bind(1, id);
        q.exec();
    }
    void add_version(const std::string& client, const std::string& parent, const std::string& id,
                     const std::string& segment) {
        SQLite::Statement q(db_, "INSERT INTO versions VALUES (?, ?, ?, ?)");
        q.bind(1, id);
        q.bind(2, client);
        q.bind(3, parent);
        q.bind(4, segment.data(), static_cast<int>(segment.size()));
        q.exec();
        set_latest(client, id);
    }
    void set_latest(const std::string& client, const std::string& id) {
        SQLite::Statement head(db_, "UPDATE clients SET latest_version_id = ? WHERE client_id = ?");
        head.bind(1, id);
        head.bind(2, client);
        head.exec();
    }
    void set_snapshot(const std::string& client, const std::string& version, std::int64_t since,
                      std::int64_t at, const std::string& bytes) {
        SQLite::Statement q(db_,
                            "UPDATE clients SET snapshot_version_id = ?, versions_since_snapshot ="
                            " ?, snapshot_timestamp = ?, snapshot = ? WHERE client_id = ?");
        q.bind(1, version);
        q.bind(2, since);
        q.bind(3, at);
        q.bind(4, bytes.data(), static_cast<int>(bytes.size()));
        q.bind(5, client);
        q.exec();
    }

  private:
    SQLite::Database db_;
};

}  // namespace callsign::testing
