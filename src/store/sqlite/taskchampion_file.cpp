#include "connection.hpp"
#include "statements.hpp"

#include <callsign/store/taskchampion_file.hpp>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace callsign {
namespace {

uuid id_of(sqlite::query& q, int column) {
    const auto id = parse_uuid(q.text(column));
    if (!id) throw std::runtime_error("it holds an id that is no UUID");
    return *id;
}

taskchampion_file::client client_of(sqlite::query& q) {
    taskchampion_file::client c;
    c.id = id_of(q, 0);
    if (!q.is_null(1)) c.latest = id_of(q, 1);
    if (q.is_null(2) || q.is_null(5)) return c;
    const std::chrono::seconds taken_at{q.integer(4)};
    c.snapshot.emplace(
        taskchampion_file::snapshot{id_of(q, 2), time_point{taken_at}, q.integer(3)});
    return c;
}

}  // namespace

class taskchampion_file::impl {
  public:
    explicit impl(const std::filesystem::path& file)
        : file_(file.string()), db_(file, SQLite::OPEN_READONLY, std::size_t{8} << 20) {
        db_.execute("BEGIN");
    }

    // What goes wrong is told with the file's name.
    template <class Action>
    auto told(Action action) {
        try {
            return action(db_);
        } catch (const std::exception& error) {
            throw std::runtime_error("cannot read " + file_ + ": " + error.what());
        }
    }

  private:
    std::string file_;
    sqlite::connection db_;
};

taskchampion_file::taskchampion_file(const std::filesystem::path& file) {
    if (!std::filesystem::is_regular_file(file)) {
        throw std::runtime_error("there is no file " + file.string());
    }
    try {
        impl_ = std::make_unique<impl>(file);
    } catch (const std::exception& error) {
        throw std::runtime_error("cannot read " + file.string() + ": " + error.what());
    }
    const auto tables =
        impl_->told([](sqlite::connection& db) { return db.integer_of(sql::reference_tables); });
    if (tables != 2) {
        throw std::runtime_error(file.string() +
                                 " is no file of taskchampion-sync-server: it has no tables"
                                 " clients and versions");
    }
}

taskchampion_file::~taskchampion_file() = default;

std::vector<taskchampion_file::client> taskchampion_file::clients() {
    return impl_->told([](sqlite::connection& db) {
        std::vector<client> all;
        auto q = db.use(sql::reference_clients);
        while (q.step()) all.push_back(client_of(q));
        return all;
    });
}

std::vector<taskchampion_file::link> taskchampion_file::chain_of(const client& of) {
    return impl_->told([&](sqlite::connection& db) {
        std::unordered_map<uuid, uuid, boost::hash<uuid>> parents;
        const std::string name = to_string(of.id);
        auto q = db.use(sql::reference_versions);
        q.bind(name);
        while (q.step()) parents.emplace(id_of(q, 0), id_of(q, 1));
        std::vector<link> chain;
        for (auto at = parents.find(of.latest); at != parents.end();) {
            chain.push_back({at->first, at->second});
            parents.erase(at);  // so that a ring ends
            at = parents.find(chain.back().parent);
        }
        if (chain.empty() && !of.latest.is_nil()) {
            throw std::runtime_error("the latest version of a client is not in it");
        }
        std::reverse(chain.begin(), chain.end());
        return chain;
    });
}

std::string taskchampion_file::segment_of(const client& of, const uuid& version) {
    return impl_->told([&](sqlite::connection& db) {
        const std::string client = to_string(of.id), name = to_string(version);
        auto q = db.use(sql::reference_segment);
        if (!q.bind(client).bind(name).step()) throw std::runtime_error("a version is gone");
        return std::string(q.blob(0));
    });
}

std::string taskchampion_file::snapshot_of(const client& of) {
    return impl_->told([&](sqlite::connection& db) {
        const std::string client = to_string(of.id);
        auto q = db.use(sql::reference_snapshot);
        if (!q.bind(client).step()) throw std::runtime_error("a snapshot is gone");
        return std::string(q.blob(0));
    });
}

}  // namespace callsign
