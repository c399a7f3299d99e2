#pragma once
// One connection to the database, with its prepared statements. A round trip sends several
// statements and waits for all their results.
//
// Errors: a connection that is lost, or a round trip without an answer in time, throws
// connection_lost, and the connection is closed: the next round trip opens another one. A statement
// that fails throws store_failure; the transaction, if any, is rolled back.

#include <callsign/base/time.hpp>
#include <callsign/ports/shared_store.hpp>
#include <callsign/ports/store_failure.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <libpq-fe.h>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::postgres {

// Types of columns: constants of PostgreSQL's pg_type.dat.
namespace oid {
inline constexpr Oid boolean = 16, bytea = 17, bigint = 20, smallint = 21, integer = 23, text = 25,
                     uuid = 2950;
}  // namespace oid

// Whether the statements of the round trip had an effect is unknown.
class connection_lost : public store_failure {
  public:
    explicit connection_lost(const std::string& why) : store_failure(kind::rejected, why) {}
};
// SQLSTATE 23505 on the primary key of the batch log, or no row before it.
class log_conflict : public store_failure {
  public:
    log_conflict() : store_failure(kind::rejected, "the batch log has gone on") {}
};

// Values of a statement's parameters, in PostgreSQL's binary form.
class parameters {
  public:
    void add(std::string bytes) { values_.push_back({std::move(bytes), false}); }
    void add_null() { values_.push_back({{}, true}); }
    // As a column of this type: bigint, integer, smallint or boolean.
    void add_integer(std::int64_t value, Oid type);
    friend bool operator==(const parameters&, const parameters&) = default;

  private:
    friend class connection;
    struct value {
        std::string bytes;
        bool is_null;
        friend bool operator==(const value&, const value&) = default;
    };
    std::vector<value> values_;
};

// Appends the integer in the binary form of a type. Throws store_failure if it does not fit.
void append_integer(std::string& to, std::int64_t value, Oid type);

// The values of a column of several rows, as an array parameter.
class array {
  public:
    explicit array(Oid type) : type_(type) {}

    void add_null();
    void add_integer(std::int64_t value);
    void add_bytes(std::string_view bytes);
    std::size_t size() const noexcept { return count_; }
    // Leaves it empty.
    std::string take();

  private:
    Oid type_;
    std::size_t count_ = 0;
    bool has_null_ = false;
    std::string elements_;
};

struct clear_result {
    void operator()(PGresult* result) const { PQclear(result); }
};
using result = std::unique_ptr<PGresult, clear_result>;

std::int64_t integer_in(const PGresult& rows, int row, int column);
std::string_view bytes_in(const PGresult& rows, int row, int column);

// Round trips so far, by purpose. Any thread.
class trip_counts {
  public:
    void add(trip purpose) noexcept { ++counts_[static_cast<std::size_t>(purpose)]; }
    std::array<std::uint64_t, trips_size> now() const noexcept {
        std::array<std::uint64_t, trips_size> all{};
        std::ranges::copy(counts_, all.begin());
        return all;
    }

  private:
    std::array<std::atomic<std::uint64_t>, trips_size> counts_{};
};

struct connection_options {
    std::string url;
    std::string schema;
    std::string settings;  // "SET" statements for the session
    // Without any data sent or received. Large batches have more: PostgreSQL has to write them.
    milliseconds round_trip{2'500};
    std::string target = "read-write";  // target_session_attrs, unless the URL has it
};

class connection {
  public:
    // Connects at the first round trip.
    explicit connection(connection_options options);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // Opens it unless it is open. Throws connection_lost: no server accepted a connection.
    void open();
    // Adds a statement to the next round trip. `text` outlives the connection; its address
    // identifies the prepared statement.
    void add(const std::string& text, parameters values = {});
    // Runs the statements that were added, and returns their results.
    std::vector<result> run();
    // As run() with one statement, whose rows are passed to `visit` one by one, until it returns
    // false; the others are read and dropped.
    template <class Visit>
    void run_by_row(const Visit& visit) {
        send(true);
        bool more = true;
        receive([&](result each) {
            if (PQntuples(each.get()) > 0) more = more && visit(*each);
        });
    }
    // Sends the statements that were added; their results are dropped. The next round trip waits
    // for them, and opens another connection if they fail.
    void run_later() noexcept;
    // Runs SQL text of several statements without parameters. If it fails, the connection is
    // closed.
    void execute(const std::string& text);
    // The round trips that follow have this time.
    void set_round_trip(milliseconds time) { options_.round_trip = time; }
    milliseconds round_trip() const noexcept { return options_.round_trip; }
    // Closes it. The next round trip opens another one.
    void close() noexcept;

    bool is_open() const noexcept { return static_cast<bool>(connection_); }
    // How often it was opened: a failover of the database ends a connection.
    std::int64_t openings() const noexcept { return openings_; }
    // A warning came with the last round trip.
    bool was_warned() const noexcept { return warned_; }
    int server_version() const noexcept { return server_version_; }

  private:
    struct close_connection {
        void operator()(PGconn* c) const { PQfinish(c); }
    };
    struct statement {
        const std::string* text;
        parameters values;
    };
    using clock = std::chrono::steady_clock;

    bool is_closed_by_server();
    void send(bool by_row);
    void receive_rest();
    void push(const std::string& name, const statement& s);
    template <class Take>
    void receive(const Take& take);
    void begin_trip() {
        trip_bytes_ = 0;
        data_moved();
    }
    // Sets the time by which the next data must be sent or received.
    void data_moved();
    void wait(short events);
    void flush();
    // Null: no more results of this statement.
    result next();
    void note(const PGresult& failed);
    void roll_back();
    [[noreturn]] void lose(const std::string& why);
    static void notice(void* self, const PGresult* said);

    connection_options options_;
    std::unique_ptr<PGconn, close_connection> connection_;
    std::map<const std::string*, std::string> prepared_;  // names
    std::vector<statement> added_;
    std::vector<const std::string*> sent_;  // null: a preparation
    bool by_row_ = false;
    bool is_outstanding_ = false;  // what was sent has not been received
    clock::time_point until_{};
    std::size_t trip_bytes_ = 0;  // of the parameters sent
    std::unique_ptr<store_failure> failed_;
    bool conflicts_ = false;
    bool warned_ = false;
    int server_version_ = 0;
    std::int64_t openings_ = 0;
};

template <class Take>
void connection::receive(const Take& take) {
    failed_.reset();
    for (std::size_t n = 0; n < sent_.size(); ++n) {
        bool is_done = false;
        if (by_row_ && sent_[n]) PQsetSingleRowMode(connection_.get());
        while (result each = next()) {
            switch (PQresultStatus(each.get())) {
            case PGRES_COMMAND_OK:
            case PGRES_TUPLES_OK:
            case PGRES_SINGLE_TUPLE:
                is_done = true;
                if (sent_[n]) take(std::move(each));
                break;
            default: note(*each);
            }
        }
        // The preparation of a statement that did not run may not exist.
        if (!is_done && !sent_[n]) prepared_.erase(sent_[n + 1]);
    }
    const result synced = next();
    if (!synced || PQresultStatus(synced.get()) != PGRES_PIPELINE_SYNC) {
        lose("an answer out of order");
    }
    roll_back();
    if (!failed_) return;
    if (conflicts_) throw log_conflict();
    throw store_failure(*failed_);
}

}  // namespace callsign::postgres
