#include "log_table.hpp"
#include "migrations.hpp"
#include "read_transaction.hpp"
#include "statements.hpp"

#include <callsign/store/postgres.hpp>

#include <algorithm>
#include <exception>
#include <sstream>
#include <string>
#include <string_view>

namespace callsign {
namespace {

namespace pg = postgres;

constexpr int oldest_supported = 150'000;

const std::string read_server =
    "SELECT current_setting('server_version'), pg_is_in_recovery()::int::bigint,"
    " (current_setting('fsync') = 'off' OR current_setting('full_page_writes') = "
    "'off')::int::bigint,"
    " (SELECT count(*) FROM pg_stat_replication), current_setting('synchronous_standby_names'),"
    " pg_backend_pid()::bigint, (to_regclass($1::text) IS NOT NULL)::int::bigint";
const std::string read_backend = "SELECT pg_backend_pid()::bigint";
const std::string read_log = "SELECT " + std::string(pg::log_columns) +
                             ", server, at, count(*) OVER (), count(*) FILTER (WHERE kind = 1) "
                             "OVER () FROM batches ORDER BY n DESC LIMIT 1";

std::vector<std::string> hosts_of(const std::string& url) {
    struct free_options {
        void operator()(PQconninfoOption* all) const { PQconninfoFree(all); }
    };
    const std::unique_ptr<PQconninfoOption, free_options> all(
        PQconninfoParse(url.c_str(), nullptr));
    std::vector<std::string> hosts;
    for (const PQconninfoOption* each = all.get(); each && each->keyword; ++each) {
        if (std::string_view(each->keyword) != "host" || !each->val) continue;
        std::istringstream names(each->val);
        for (std::string name; std::getline(names, name, ',');) {
            const bool is_known = std::ranges::find(hosts, name) != hosts.end();
            if (!name.empty() && name[0] != '/' && !is_known) hosts.push_back(name);
        }
    }
    return hosts;
}

void read_facts(pg::connection& db, const std::string& schema, database_state& found) {
    pg::parameters table;
    table.add(schema + ".batches");
    db.add(read_server, std::move(table));
    const auto server = db.run();
    db.add(read_backend);
    const auto backend = db.run();
    const PGresult& its = *server[0];
    // "15.20 (Debian 15.20-0+deb12u1)"
    const std::string_view version = pg::bytes_in(its, 0, 0);
    found.version = version.substr(0, version.find(' '));
    found.is_supported = db.server_version() >= oldest_supported;
    found.is_standby = pg::integer_in(its, 0, 1) != 0;
    found.loses_at_crash = pg::integer_in(its, 0, 2) != 0;
    found.standbys = pg::integer_in(its, 0, 3);
    found.synchronous = pg::bytes_in(its, 0, 4);
    found.is_pooled = pg::integer_in(its, 0, 5) != pg::integer_in(*backend[0], 0, 0);
    if (pg::integer_in(its, 0, 6) == 0) {
        found.unread = "there is no store";
        return;
    }
    db.add(read_log);
    const auto log = db.run();
    if (PQntuples(log[0].get()) == 0) {
        found.unread = "the batch log is empty";
        return;
    }
    const PGresult& row = *log[0];
    found.last = pg::log_row_in(row);
    found.schema = pg::schema_version_in(row);
    found.server = pg::bytes_in(row, 0, 5);
    found.last_at = time_point{milliseconds{pg::integer_in(row, 0, 6)}};
    found.log_rows = pg::integer_in(row, 0, 7);
    found.takeovers = pg::integer_in(row, 0, 8);
}

}  // namespace

database_state inspect_postgres(const postgres_options& options,
                                const std::function<store_sight(read_tx&)>& look_at_rows) {
    database_state found;
    found.schema_known = static_cast<std::int64_t>(pg::migrations().size());
    found.hosts = hosts_of(options.url);
    const pg::connection_options how{.url = options.url,
                                     .schema = options.schema,
                                     .settings = pg::session_settings,
                                     .round_trip = options.round_trip,
                                     .target = "any"};
    try {
        pg::connection db(how);
        read_facts(db, options.schema, found);
        if (found.unread.empty() && found.schema != found.schema_known) {
            found.unread = "it has schema " + std::to_string(found.schema);
        }
        if (!found.unread.empty()) return found;
        pg::read_unowned(db, how, [&](read_tx& tx) { found.rows = look_at_rows(tx); });
    } catch (const std::exception& e) {
        (found.version.empty() ? found.unreached : found.unread) = e.what();
    }
    return found;
}

}  // namespace callsign
