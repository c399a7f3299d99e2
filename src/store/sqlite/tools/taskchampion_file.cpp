#include "connection.hpp"
#include "statements.hpp"

#include <callsign/base/instant_bounds.hpp>
#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/sealed.hpp>
#include <callsign/store/taskchampion_file.hpp>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace callsign {
namespace {

uuid id_of(sqlite::query& q, int column) {
    const auto id = parse_uuid(q.text(column));
    if (!id) throw std::runtime_error("an ID is not a UUID");
    return *id;
}

void read_state(sqlite::query& q, taskchampion_file::client& c) {
    c.id = id_of(q, 0);
    if (!q.is_null(1)) c.latest = id_of(q, 1);
    if (q.is_null(2) || q.is_null(5)) return;
    const std::int64_t taken_at = q.integer(4);
    if (!is_instant_in_seconds(taken_at)) {
        throw std::runtime_error("snapshot_timestamp must be of the years 1 to 9999");
    }
    const std::int64_t since = q.integer(3);
    if (since < 0 || since > versions_since_max) {
        throw std::runtime_error("versions_since_snapshot must be a number of versions");
    }
    c.snapshot.emplace(taskchampion_file::snapshot{
        id_of(q, 2), time_point{std::chrono::seconds{taken_at}}, since});
}

taskchampion_file::client client_of(sqlite::query& q) {
    taskchampion_file::client c;
    try {
        read_state(q, c);
    } catch (const std::runtime_error& error) {
        c.fault = error.what();
    }
    return c;
}

// Adds the file's name to an error.
template <class Action>
auto told(const std::filesystem::path& name, Action action) {
    try {
        return action();
    } catch (const std::exception& error) {
        throw std::runtime_error("cannot read " + name.string() + ": " + error.what());
    }
}

class opened_file final : public taskchampion_file {
  public:
    explicit opened_file(const std::filesystem::path& name)
        : name_(name), db_(name, SQLite::OPEN_READONLY, std::size_t{8} << 20) {
        db_.execute("BEGIN");
        if (db_.integer_of(sql::reference_tables) != 2) {
            throw std::runtime_error(
                "not a file of taskchampion-sync-server: the tables clients and versions are "
                "missing");
        }
    }

    std::vector<client> clients() override {
        return told(name_, [&] {
            std::vector<client> all;
            auto q = db_.use(sql::reference_clients);
            while (q.step()) all.push_back(client_of(q));
            return all;
        });
    }

    std::vector<link> chain_of(const client& of) override {
        return told(name_, [&] {
            if (!of.fault.empty()) throw std::runtime_error(of.fault);
            std::unordered_map<uuid, uuid, keyed_hash> parents;
            const std::string name = to_string(of.id);
            auto q = db_.use(sql::reference_versions);
            q.bind(name);
            while (q.step()) parents.emplace(id_of(q, 0), id_of(q, 1));
            if (of.latest.is_nil() && !parents.empty()) {
                throw std::runtime_error("a client with versions has no latest version");
            }
            std::vector<link> chain;
            for (auto at = parents.find(of.latest); at != parents.end();) {
                chain.push_back({at->first, at->second});
                parents.erase(at);  // so that a cycle ends
                at = parents.find(chain.back().parent);
            }
            const bool is_in_snapshot = of.snapshot && of.snapshot->version == of.latest;
            if (chain.empty() && !of.latest.is_nil() && !is_in_snapshot) {
                throw std::runtime_error("the latest version of a client is missing");
            }
            std::reverse(chain.begin(), chain.end());
            return chain;
        });
    }

    std::string segment_of(const client& of, const uuid& version) override {
        return told(name_, [&] {
            const std::string client = to_string(of.id), name = to_string(version);
            auto q = db_.use(sql::reference_segment);
            if (!q.bind(client).bind(name).step()) throw std::runtime_error("a version is missing");
            return std::string(q.blob(0));
        });
    }

    std::string snapshot_of(const client& of) override {
        return told(name_, [&] {
            const std::string client = to_string(of.id);
            auto q = db_.use(sql::reference_snapshot);
            if (!q.bind(client).step()) throw std::runtime_error("a snapshot is missing");
            return std::string(q.blob(0));
        });
    }

  private:
    std::filesystem::path name_;
    sqlite::connection db_;
};

}  // namespace

std::unique_ptr<taskchampion_file> open_taskchampion_file(const std::filesystem::path& name) {
    if (!std::filesystem::is_regular_file(name)) {
        throw std::runtime_error("no such file: " + name.string());
    }
    return told(name, [&] { return std::make_unique<opened_file>(name); });
}

}  // namespace callsign
