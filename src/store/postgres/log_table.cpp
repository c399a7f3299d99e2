#include "log_table.hpp"

#include "migrations.hpp"

#include <algorithm>

namespace callsign::postgres {
namespace {

// A migration may rewrite tables.
constexpr milliseconds migration_trip = std::chrono::minutes{10};

const std::string begin_batch = "BEGIN";
const std::string commit_batch = "COMMIT";

const std::string select_rows = "SELECT " + std::string(log_columns) + " FROM batches ";
const std::string select_last = select_rows + "ORDER BY n DESC LIMIT 1";
const std::string select_row = select_rows + "WHERE n = $1";

// In the order of the table's declaration, without its key.
std::vector<std::string_view> totals_columns() {
    std::vector<std::string_view> names;
    for (const column_info& c : info_of_table<store_totals>().columns) {
        if (!c.is_in_key) names.push_back(c.name);
    }
    return names;
}

// A row whose predecessor is missing, or another server's, violates a CHECK. Totals that are not
// given are those of the row before.
const std::string& insert_row() {
    static const std::string text = [] {
        std::string names =
            "n, owner, kind, at, server, lost_through, schema_version, pending_through";
        std::string values =
            "CASE WHEN b.n IS NOT NULL OR $1 = 1::bigint THEN $1 ELSE 0 END, $2::uuid,"
            " $3::smallint, $4::bigint, $5::bytea, $6::bigint,"
            " coalesce($7::smallint, b.schema_version, 0), coalesce($8::bigint, b.pending_through, "
            "0)";
        int number = 9;
        for (const std::string_view name : totals_columns()) {
            names += ", " + std::string(name);
            values += ", coalesce($" + std::to_string(++number) + "::bigint, b." +
                      std::string(name) + ", 0)";
        }
        return "INSERT INTO batches (" + names + ") SELECT " + values +
               " FROM (SELECT 1) one LEFT JOIN batches b"
               " ON b.n = $1 - 1::bigint AND b.owner = $9::uuid";
    }();
    return text;
}

class totals_parameters final : public column_sink {
  public:
    explicit totals_parameters(parameters& to) : to_(to) {}

    void put_null() override { to_.add_null(); }
    // The first column is the key.
    void put_integer(std::int64_t value) override {
        if (!std::exchange(is_first_, false)) to_.add_integer(value, oid::bigint);
    }
    void put_text(const std::string& /*text*/) override {}
    void put_bytes(std::string_view /*bytes*/) override {}
    void put_made(std::string /*bytes*/) override {}
    void put_made_text(std::string /*text*/) override {}
    void put_attributes(const attributes&, std::span<const std::string>) override {}
    void put_operations(std::span<const operation>) override {}
    void put_retry_record(const retry_record&) override {}
    void put_way(std::int64_t, const fork_way&) override {}

  private:
    parameters& to_;
    bool is_first_ = true;
};

class trip_of_migration {
  public:
    explicit trip_of_migration(connection& db) : db_(db), usual_(db.round_trip()) {
        db_.set_round_trip(migration_trip);
    }
    ~trip_of_migration() { db_.set_round_trip(usual_); }
    trip_of_migration(const trip_of_migration&) = delete;
    trip_of_migration& operator=(const trip_of_migration&) = delete;

  private:
    connection& db_;
    milliseconds usual_;
};

std::string bytes_of(const uuid& id) {
    return {id.begin(), id.end()};
}

}  // namespace

log_row log_row_in(const PGresult& rows) {
    log_row row;
    row.n = integer_in(rows, 0, 0);
    const std::string_view owner = bytes_in(rows, 0, 1);
    if (owner.size() != row.owner.size()) throw_damaged("batches", row.n, "its owner");
    std::ranges::copy(owner, row.owner.begin());
    row.kind = static_cast<log_kind>(integer_in(rows, 0, 2));
    row.lost_through = integer_in(rows, 0, 3);
    return row;
}
std::int64_t schema_version_in(const PGresult& rows) {
    return integer_in(rows, 0, 4);
}

log_database::outcome log_table::append(const log_row& row, const uuid& after,
                                        const log_writes* writes) {
    const auto* const batch = static_cast<const batch_writes*>(writes);
    const auto optional = [](parameters& to, std::optional<std::int64_t> value, Oid type) {
        value ? to.add_integer(*value, type) : to.add_null();
    };
    const bool migrates = batch && !batch->migration.empty();
    // What fails before the round trip has written nothing.
    db_.open();
    // After a failover another row may have the place of the one that was seen.
    if (row.owner != after && db_.openings() != looked_on_) return outcome::conflict;
    trips_.add(writes ? trip::commit : trip::heartbeat);
    std::optional<trip_of_migration> longer;
    if (migrates) {
        longer.emplace(db_);
        db_.execute(begin_batch + ";" + batch->migration);
    } else {
        db_.add(begin_batch);
    }
    parameters values;
    values.add_integer(row.n, oid::bigint);
    values.add(bytes_of(row.owner));
    values.add_integer(static_cast<std::int64_t>(row.kind), oid::smallint);
    values.add_integer(clock_.now().time_since_epoch().count(), oid::bigint);
    values.add(server_);
    values.add_integer(row.lost_through, oid::bigint);
    const auto version = static_cast<std::int64_t>(migrations().size());
    optional(values, migrates ? std::optional(version) : std::nullopt, oid::smallint);
    optional(values, batch ? batch->pending_through : std::nullopt, oid::bigint);
    values.add(bytes_of(after));
    if (batch && batch->totals) {
        totals_parameters totals(values);
        info_of_table<store_totals>().put_columns(batch->totals.get(), totals);
    } else {
        for (std::size_t n = totals_columns().size(); n > 0; --n) values.add_null();
    }
    db_.add(insert_row(), std::move(values));
    if (batch) {
        for (auto& [text, its] : batch->statements) db_.add(*text, std::move(its));
    }
    db_.add(commit_batch);
    try {
        const auto all = db_.run();
        // COMMIT of a failed transaction succeeds as ROLLBACK.
        const bool is_committed = std::string_view(PQcmdStatus(all.back().get())) == commit_batch;
        if (!is_committed || db_.was_warned()) {
            db_.close();
            return outcome::unknown;
        }
        return outcome::committed;
    } catch (const connection_lost&) {
        return outcome::unknown;
    } catch (const log_conflict&) {
        return outcome::conflict;
    }
}

bool log_table::exists() {
    static const std::string text = "SELECT to_regclass($1::text) IS NOT NULL";
    if (exists_) return true;
    parameters name;
    name.add(schema_ + ".batches");
    db_.add(text, std::move(name));
    const auto found = db_.run();
    return exists_ = integer_in(*found[0], 0, 0) != 0;
}

std::optional<log_row> log_table::row_of(const result& rows) {
    if (PQntuples(rows.get()) == 0) return std::nullopt;
    schema_version_ = static_cast<std::size_t>(schema_version_in(*rows));
    return log_row_in(*rows);
}

std::optional<log_row> log_table::last() {
    std::optional<log_row> found;
    if (exists()) {
        db_.add(select_last);
        found = row_of(db_.run()[0]);
    }
    looked_on_ = db_.openings();
    return found;
}

std::optional<log_row> log_table::find(std::int64_t n) {
    parameters key;
    key.add_integer(n, oid::bigint);
    db_.add(select_row, std::move(key));
    return row_of(db_.run()[0]);
}

}  // namespace callsign::postgres
