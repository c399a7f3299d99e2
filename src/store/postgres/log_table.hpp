#pragma once
// The batch log in the table batches: rows, each of which writes a transaction.

#include "connection.hpp"

#include <callsign/ports/tables/totals.hpp>
#include <callsign/store/batch_log.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace callsign::postgres {

// What a row of the log writes besides itself.
struct batch_writes final : log_writes {
    // Null, none: as in the row before.
    row_of<store_totals> totals{};
    std::optional<std::int64_t> pending_through{};
    // Run in this order. Parameters are consumed.
    mutable std::vector<std::pair<const std::string*, parameters>> statements{};
    // SQL text that is run before; with it the row has the present schema version.
    std::string migration{};
};

// The columns of a log_row, and the schema version. A query begins with them.
inline constexpr char log_columns[] = "n, owner, kind, lost_through, schema_version";
// Requires: the first row of `rows` begins with log_columns. Throws store_failure: damaged.
log_row log_row_in(const PGresult& rows);
std::int64_t schema_version_in(const PGresult& rows);

class log_table final : public log_database {
  public:
    // `db` and `trips` outlive it. `server`: its name for operators.
    log_table(connection& db, clock& clock, std::string schema, std::string server,
              trip_counts& trips)
        : db_(db),
          clock_(clock),
          schema_(std::move(schema)),
          server_(std::move(server)),
          trips_(trips) {}

    outcome append(const log_row& row, const uuid& after, const log_writes* writes) override;
    std::optional<log_row> last() override;
    std::optional<log_row> find(std::int64_t n) override;

    // The number of migrations that the last row has seen; 0: the store does not exist.
    std::size_t schema_version() const noexcept { return schema_version_; }

  private:
    bool exists();
    std::optional<log_row> row_of(const result& rows);

    connection& db_;
    clock& clock_;
    std::string schema_;
    std::string server_;
    trip_counts& trips_;
    bool exists_ = false;
    std::int64_t looked_on_ = 0;  // connection::openings() of the last look
    std::size_t schema_version_ = 0;
};

}  // namespace callsign::postgres
