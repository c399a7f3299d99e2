#include "migrations.hpp"
#include "read_transaction.hpp"
#include "statements.hpp"

#include <callsign/store/postgres.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace callsign {
namespace {

namespace pg = postgres;

// A statement about rows that the rules do not see, and a query that returns a text for each
// violation.
struct storage_check {
    proof of;
    std::string offenders;
};

const storage_check storage_checks[] = {
    {{"file", "the batch log has no gap"},
     "SELECT 'row ' || n || ' follows row ' || before FROM (SELECT n, lag(n) OVER (ORDER BY n)"
     " AS before FROM batches) b WHERE before <> n - 1"},
    {{"file", "each account and each counter has its latest columns"},
     "SELECT 'account ' || account_id FROM account_rows r WHERE NOT EXISTS (SELECT FROM"
     " account_heads h WHERE h.account_id = r.account_id) UNION ALL"
     " SELECT 'counter ' || counter_id FROM counter_rows r WHERE NOT EXISTS (SELECT FROM"
     " counter_heads h WHERE h.counter_id = r.counter_id) UNION ALL"
     " SELECT 'account ' || account_id || ' does not exist' FROM account_heads h WHERE NOT EXISTS"
     " (SELECT FROM account_rows r WHERE h.account_id = r.account_id) UNION ALL"
     " SELECT 'counter ' || counter_id || ' does not exist' FROM counter_heads h WHERE NOT EXISTS"
     " (SELECT FROM counter_rows r WHERE h.counter_id = r.counter_id)"},
    {{"I4", "pending_slots has every pending slot, and no other"},
     "SELECT 'slot ' || slot_id || ' is pending but not listed' FROM slots s WHERE state IN (1, 4)"
     " AND slot_id <= (SELECT pending_through FROM batches ORDER BY n DESC LIMIT 1)"
     " AND NOT EXISTS (SELECT FROM pending_slots p WHERE p.slot_id = s.slot_id) UNION ALL"
     " SELECT 'slot ' || slot_id || ' is listed but not pending' FROM pending_slots p WHERE NOT"
     " EXISTS (SELECT FROM slots s WHERE s.slot_id = p.slot_id AND state IN (1, 4))"},
};

// These queries read whole tables.
constexpr milliseconds query_max = std::chrono::minutes{10};
constexpr char long_settings[] = "SET idle_in_transaction_session_timeout = '10min'";

void check_storage(pg::connection& db, findings& found) {
    for (const storage_check& each : storage_checks) {
        found.begin(each.of);
        db.add(each.offenders);
        const auto rows = db.run();
        for (int n = 0; n < PQntuples(rows[0].get()); ++n) {
            found.fault(each.of, std::string(pg::bytes_in(*rows[0], n, 0)));
        }
    }
}

void expect_known_schema(pg::connection& db) {
    static const std::string last = "SELECT schema_version FROM batches ORDER BY n DESC LIMIT 1";
    db.add(last);
    const std::int64_t its = pg::integer_in(*db.run()[0], 0, 0);
    const auto known = static_cast<std::int64_t>(pg::migrations().size());
    if (its == known) return;
    throw std::runtime_error("the database has schema " + std::to_string(its) +
                             ", and this program checks schema " + std::to_string(known));
}

}  // namespace

check_report check_postgres(const postgres_options& options,
                            const std::function<void(read_tx&, findings&)>& audit,
                            const findings::progress& progress, time_point made_before) {
    pg::connection_options its{.url = options.url,
                               .schema = options.schema,
                               .settings = long_settings,
                               .round_trip = query_max,
                               .target = "any"};
    try {
        pg::connection db(its);
        expect_known_schema(db);
        findings found(progress, made_before);
        check_storage(db, found);
        its.settings = pg::session_settings + std::string("; ") + long_settings;
        pg::read_unowned(db, its, [&](read_tx& tx) { audit(tx, found); });
        return std::move(found.report);
    } catch (const store_failure& error) {
        if (error.is_damage()) return {{}, {{"file", error.what()}}};
        throw std::runtime_error(std::string("cannot read the database: ") + error.what());
    }
}

}  // namespace callsign
