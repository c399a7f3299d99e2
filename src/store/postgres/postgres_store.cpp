// The PostgreSQL store: the standby's and the owner's end of the batch log, the writer's state and
// the readers.

#include "log_table.hpp"
#include "migrations.hpp"
#include "open_slots.hpp"
#include "read_transaction.hpp"
#include "reads.hpp"
#include "write_transaction.hpp"

#include <callsign/ports/tables/slots.hpp>
#include <callsign/ports/tables/totals.hpp>
#include <callsign/store/postgres.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace callsign {
namespace {

namespace pg = postgres;

// A higher level, such as remote_apply, is kept; a lower one could lose commits.
constexpr char writer_settings[] =
    "; SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')";

pg::connection_options connection_of(const postgres_options& options, bool writes) {
    return {.url = options.url,
            .schema = options.schema,
            .settings = pg::session_settings + std::string(writes ? writer_settings : ""),
            .round_trip = options.round_trip};
}

// The writer's connection and the log on it.
struct writers_end {
    writers_end(const postgres_options& options, clock& clock, const uuid& owner)
        : wall(clock),
          db(connection_of(options, true)),
          table(db, clock, options.schema, options.server, trips),
          log(table, clock, owner, options.log,
              [](milliseconds span) { std::this_thread::sleep_for(span); }) {}

    clock& wall;
    pg::trip_counts trips;
    pg::connection db;
    pg::log_table table;
    batch_log log;
};

class postgres_store final : public store, public shared_store {
  public:
    postgres_store(std::unique_ptr<writers_end> end, const postgres_options& options)
        : end_(std::move(end)),
          texts_(pg::column_types::read(end_->db, options.schema)),
          open_(options.pending_window),
          state_{end_->db, texts_, end_->log, open_, end_->trips},
          readers_(connection_of(options, false), options.readers, end_->trips),
          taken_over_at_(end_->wall.now()),
          is_moving_(options.log.moves) {
        load();
    }
    ~postgres_store() override {
        // What was not moved completely must not be served.
        if (!is_moving_) end_->log.release();
    }
    postgres_store(const postgres_store&) = delete;
    postgres_store& operator=(const postgres_store&) = delete;

    std::unique_ptr<write_tx> begin_write() override { return pg::begin_write(state_); }
    std::unique_ptr<read_tx> begin_read() override {
        return pg::begin_read(readers_, texts_, &end_->log);
    }
    row_of<store_totals> totals() override {
        auto known = state_.rows.of<store_totals>().find<totals_by_id>({store_totals::only});
        return known ? known : std::make_shared<const store_totals>();
    }

    shared_store* shared() noexcept override { return this; }
    bool is_held() const noexcept override { return end_->log.is_held(); }
    void keep() override { end_->log.keep(); }
    void prove_writable() override { end_->log.prove(); }
    shared_store_usage usage() const noexcept override {
        return {taken_over_at_, end_->log.last(), end_->trips.now()};
    }
    std::int64_t lost_through() const noexcept override { return end_->log.lost_through(); }
    void forget_loss() noexcept override { end_->log.forget_loss(); }
    void finish_move(bool is_here) noexcept override {
        end_->log.end(is_here ? log_kind::release : log_kind::moved);
    }

  private:
    // What the writer keeps in memory.
    void load() {
        static const std::string progress =
            "SELECT (SELECT pending_through FROM batches ORDER BY n DESC LIMIT 1),"
            " (SELECT n FROM batches ORDER BY n LIMIT 1)";
        end_->db.add(progress);
        const auto found = end_->db.run();
        state_.log_from = pg::integer_in(*found[0], 0, 1);
        const auto tx = pg::begin_write(state_);
        tx->expect<totals_by_id>(store_totals::only);
        open_.load(pg::integer_in(*found[0], 0, 0), pg::read_open_slots(state_));
    }

    std::unique_ptr<writers_end> end_;
    pg::statements texts_;
    pg::open_slots open_;
    pg::write_state state_;
    pg::reader_pool readers_;
    time_point taken_over_at_;
    bool is_moving_;
};

class standby final : public standby_store {
  public:
    standby(postgres_options options, clock& clock, const uuid& owner)
        : options_(std::move(options)),
          end_(std::make_unique<writers_end>(options_, clock, owner)),
          watch_(end_->table, clock, options_.log) {}

    bool look() override {
        const bool may = watch_.look();
        const std::size_t known = pg::migrations().size();
        if (watch_.last() && end_->table.schema_version() > known) {
            throw std::runtime_error("the data was written by a newer callsignd (schema " +
                                     std::to_string(end_->table.schema_version()) +
                                     ", this one knows " + std::to_string(known) + ")");
        }
        if (!options_.log.moves && watch_.last() && watch_.last()->kind == log_kind::moved) {
            throw std::runtime_error("the store was moved from this database to another place");
        }
        return may;
    }
    std::optional<log_row> last() const override { return watch_.last(); }
    std::unique_ptr<store> take_over() override {
        const pg::batch_writes migration = what_is_missing();
        const bool migrates = !migration.migration.empty();
        const bool is_ours = end_->log.take_over(watch_.last(), watch_.highest_seen(),
                                                 migrates ? &migration : nullptr);
        if (!is_ours) return nullptr;
        return std::make_unique<postgres_store>(std::move(end_), options_);
    }

  private:
    pg::batch_writes what_is_missing() const {
        static const std::string put_instance =
            "INSERT INTO instance (instance_id, uuid) VALUES (1, $1::uuid)";
        pg::batch_writes writes;
        const std::size_t applied = watch_.last() ? end_->table.schema_version() : 0;
        if (applied == 0) {
            writes.migration = "CREATE SCHEMA IF NOT EXISTS " + options_.schema + ";";
            pg::parameters its;
            const uuid& owner = end_->log.owner();  // as good as any new UUID
            its.add(std::string(owner.begin(), owner.end()));
            writes.statements.emplace_back(&put_instance, std::move(its));
        }
        for (const pg::migration& next : pg::migrations().subspan(applied)) {
            writes.migration += next.text;
        }
        return writes;
    }

    postgres_options options_;
    std::unique_ptr<writers_end> end_;
    log_watch watch_;
};

bool is_plain_name(const std::string& name) {
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !name.empty() && name.size() < 64 && (name[0] < '0' || name[0] > '9') &&
           std::ranges::all_of(name, is_plain);
}

}  // namespace

std::unique_ptr<standby_store> open_postgres(postgres_options options, clock& clock,
                                             const uuid& owner) {
    if (!is_plain_name(options.schema)) {
        throw std::runtime_error("the name of a schema has lower-case letters, digits and _ only");
    }
    return std::make_unique<standby>(std::move(options), clock, owner);
}

}  // namespace callsign
