#pragma once
// The store in a PostgreSQL database that several servers can reach (docs/nodes.md). One of them
// owns it by the batch log (batch_log.hpp); the others wait to take it over.
//
// PostgreSQL 15 or later, with plain tables in a schema of their own: no extension, trigger,
// sequence, notification or advisory lock. A pooler between must not share sessions.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/findings.hpp>
#include <callsign/ports/clock.hpp>
#include <callsign/ports/doctor.hpp>
#include <callsign/ports/store.hpp>
#include <callsign/store/batch_log.hpp>
#include <callsign/store/standby_store.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace callsign {

struct postgres_options {
    // "postgresql://host1,host2/db?target_session_attrs=read-write"; all that libpq takes.
    std::string url{};
    // Created if missing. Lower-case letters, digits and _.
    std::string schema = "callsign";
    // The name of this server, for operators.
    std::string server{};
    // Number of connections for reads; further reads wait for one.
    std::size_t readers = 2;
    // Maximum time of one round trip in which no data is sent or received. A paused server
    // acknowledges data without ever responding.
    milliseconds round_trip{2'500};
    log_options log{};
    // Number of newest slots of which an open one is not listed in pending_slots.
    std::int64_t pending_window = 1'024;
};

// Connects at the first look; take_over() creates or migrates the schema. `owner`: a new UUID for
// each run of a server. `clock` outlives all. Throws std::runtime_error: the options are invalid.
std::unique_ptr<standby_store> open_postgres(postgres_options options, clock& clock,
                                             const uuid& owner);

// Verifies the store on one snapshot, while a server may own it: first that heads and open slots
// are complete, then, by `audit`, the guarantees. A URL with target_session_attrs=standby verifies
// a standby. `progress` and `made_before`: as for findings. Throws std::runtime_error if there is
// nothing to read.
check_report check_postgres(const postgres_options& options,
                            const std::function<void(read_tx&, findings&)>& audit,
                            const findings::progress& progress, time_point made_before);

// The database, the batch log and the rows, as `callsign doctor` reports them.
struct database_state {
    std::string unreached{};           // why nothing could be read; empty: the rest is valid
    std::vector<std::string> hosts{};  // of the URL, without sockets
    std::string version{};             // of PostgreSQL: "15.20"
    bool is_supported = false;
    bool is_standby = false;
    bool is_pooled = false;       // a pooler shares sessions
    bool loses_at_crash = false;  // fsync or full_page_writes is off
    std::int64_t standbys = 0;    // connected now
    std::string synchronous{};    // synchronous_standby_names; empty: commits wait for no standby

    std::int64_t schema = 0;        // of the store; 0: there is no store
    std::int64_t schema_known = 0;  // that this program writes
    std::optional<log_row> last{};
    std::string server{};        // that wrote the last row
    time_point last_at{};        // by that server's wall clock
    std::int64_t log_rows = 0;   // kept
    std::int64_t takeovers = 0;  // among them

    std::string unread{};  // why there is nothing in `rows`
    store_sight rows{};
};
// Reads only, on one server. Throws nothing.
database_state inspect_postgres(const postgres_options& options,
                                const std::function<store_sight(read_tx&)>& look_at_rows);

}  // namespace callsign
