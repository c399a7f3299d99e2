#include "connection.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <poll.h>
#include <string>
#include <utility>

namespace callsign::postgres {
namespace {

// A host that does not answer while connecting; libpq's minimum is 2 seconds.
constexpr char connect_timeout_seconds[] = "2";

// A database that writes less in a millisecond, its standbys included, is too slow: 4 MiB/s.
constexpr std::size_t written_per_millisecond = 4'096;

template <class Int>
void append_big_endian(std::string& to, Int value) {
    for (std::size_t n = sizeof value; n-- > 0;) {
        to.push_back(static_cast<char>(static_cast<std::make_unsigned_t<Int>>(value) >> (8 * n)));
    }
}

template <class Int>
Int fitting(std::int64_t value) {
    if (value < std::numeric_limits<Int>::min() || value > std::numeric_limits<Int>::max()) {
        throw store_failure(store_failure::kind::rejected, "a value that its column cannot hold");
    }
    return static_cast<Int>(value);
}

// Size of an integer type.
std::int32_t size_of_integer(Oid type) {
    switch (type) {
    case oid::boolean: return 1;
    case oid::smallint: return 2;
    case oid::integer: return 4;
    default: return 8;
    }
}

store_failure::kind meaning_of(std::string_view state) {
    using kind = store_failure::kind;
    if (state == "53100") return kind::full;
    if (state == "58030") return kind::io_error;
    if (state == "XX001" || state == "XX002") return kind::corrupt;
    if (state == "42501") return kind::read_only;
    if (state == "22012") return kind::damaged;  // see statements.hpp
    return kind::rejected;
}

bool is_of_connection(std::string_view state) {
    return state.starts_with("08") || state.starts_with("57P") || state == "25006";
}

}  // namespace

void append_integer(std::string& to, std::int64_t value, Oid type) {
    switch (type) {
    case oid::boolean: return to.push_back(value != 0 ? 1 : 0);
    case oid::smallint: return append_big_endian(to, fitting<std::int16_t>(value));
    case oid::integer: return append_big_endian(to, fitting<std::int32_t>(value));
    default: append_big_endian(to, value);
    }
}

void parameters::add_integer(std::int64_t value, Oid type) {
    std::string bytes;
    append_integer(bytes, value, type);
    add(std::move(bytes));
}

// ---- arrays ----

void array::add_null() {
    append_big_endian(elements_, std::int32_t{-1});
    has_null_ = true;
    ++count_;
}

void array::add_integer(std::int64_t value) {
    append_big_endian(elements_, size_of_integer(type_));
    append_integer(elements_, value, type_);
    ++count_;
}

void array::add_bytes(std::string_view bytes) {
    append_big_endian(elements_, static_cast<std::int32_t>(bytes.size()));
    elements_.append(bytes);
    ++count_;
}

// The format of array_send() in PostgreSQL's src/backend/utils/adt/arrayfuncs.c.
std::string array::take() {
    std::string all;
    all.reserve(20 + elements_.size());
    append_big_endian(all, std::int32_t{1});  // dimensions
    append_big_endian(all, std::int32_t{has_null_ ? 1 : 0});
    append_big_endian(all, static_cast<std::int32_t>(type_));
    append_big_endian(all, static_cast<std::int32_t>(count_));
    append_big_endian(all, std::int32_t{1});  // the first index
    all += elements_;
    elements_.clear();
    count_ = 0;
    has_null_ = false;
    return all;
}

// ---- results ----

std::string_view bytes_in(const PGresult& rows, int row, int column) {
    return {PQgetvalue(&rows, row, column),
            static_cast<std::size_t>(PQgetlength(&rows, row, column))};
}

std::int64_t integer_in(const PGresult& rows, int row, int column) {
    const std::string_view bytes = bytes_in(rows, row, column);
    std::uint64_t value = !bytes.empty() && (bytes[0] & 0x80) ? ~std::uint64_t{0} : 0;
    for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(value);
}

// ---- connection ----

connection::connection(connection_options options) : options_(std::move(options)) {}

connection::~connection() = default;

void connection::close() noexcept {
    connection_.reset();
    prepared_.clear();
    added_.clear();
    is_outstanding_ = false;
}

void connection::lose(const std::string& why) {
    std::string text = "PostgreSQL: " + why;
    const std::string more = connection_ ? PQerrorMessage(connection_.get()) : "";
    if (!more.empty()) text += ": " + more.substr(0, more.find_last_not_of('\n') + 1);
    close();
    throw connection_lost(text);
}

// Whether the server has closed the connection, as far as is known. Between round trips it sends
// nothing else.
bool connection::is_closed_by_server() {
    pollfd socket{PQsocket(connection_.get()), POLLIN, 0};
    if (poll(&socket, 1, 0) <= 0) return false;
    return PQconsumeInput(connection_.get()) != 1 || PQstatus(connection_.get()) != CONNECTION_OK;
}

// libpq tries each host of the URL in turn.
void connection::open() {
    if (connection_ && is_closed_by_server()) close();
    if (connection_) return;
    // The URL, which is expanded in the place of the first one, overrides those before it.
    const std::array<const char*, 6> names{"connect_timeout", "target_session_attrs",      "dbname",
                                           "client_encoding", "fallback_application_name", nullptr};
    const std::array<const char*, 6> values{connect_timeout_seconds,
                                            options_.target.c_str(),
                                            options_.url.c_str(),
                                            "UTF8",
                                            "callsignd",
                                            nullptr};
    connection_.reset(PQconnectdbParams(names.data(), values.data(), 1));
    if (!connection_) throw store_failure(store_failure::kind::rejected, "out of memory");
    if (PQstatus(connection_.get()) != CONNECTION_OK) lose("no connection");
    PQsetNoticeReceiver(connection_.get(), notice, this);
    server_version_ = PQserverVersion(connection_.get());
    ++openings_;
    begin_trip();
    if (PQsetnonblocking(connection_.get(), 1) != 0) lose("not set to non-blocking");
    execute("SET search_path = " + options_.schema + ";" + options_.settings);
}

void connection::notice(void* self, const PGresult* said) {
    const char* const severity = PQresultErrorField(said, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity && std::string_view(severity) == "WARNING") {
        static_cast<connection*>(self)->warned_ = true;
    }
}

void connection::add(const std::string& text, parameters values) {
    added_.push_back({&text, std::move(values)});
}

std::vector<result> connection::run() {
    std::vector<result> all;
    send(false);
    receive([&](result each) { all.push_back(std::move(each)); });
    return all;
}

void connection::send(bool by_row) {
    // Opening runs statements, too.
    auto added = std::exchange(added_, {});
    receive_rest();
    open();
    warned_ = false;
    by_row_ = by_row;
    sent_.clear();
    begin_trip();
    if (PQenterPipelineMode(connection_.get()) != 1) lose("no pipeline");
    for (const statement& s : added) {
        const auto [at, is_new] = prepared_.try_emplace(s.text);
        if (is_new) {
            at->second = "s" + std::to_string(prepared_.size());
            if (PQsendPrepare(connection_.get(), at->second.c_str(), s.text->c_str(), 0, nullptr) !=
                1) {
                lose("not sent");
            }
            sent_.push_back(nullptr);
        }
        push(at->second, s);
        sent_.push_back(s.text);
    }
    if (PQpipelineSync(connection_.get()) != 1) lose("not sent");
    flush();
}

void connection::run_later() noexcept {
    try {
        send(false);
        is_outstanding_ = true;
    } catch (const store_failure&) {
        close();
    }
}

void connection::receive_rest() {
    if (!std::exchange(is_outstanding_, false)) return;
    begin_trip();
    try {
        receive([](const result&) {});
    } catch (const store_failure&) {
        close();
    }
}

void connection::push(const std::string& name, const statement& s) {
    const auto& all = s.values.values_;
    for (const auto& each : all) trip_bytes_ += each.bytes.size();
    std::vector<const char*> values;
    std::vector<int> lengths;
    for (const auto& each : all) {
        values.push_back(each.is_null ? nullptr : each.bytes.data());
        lengths.push_back(static_cast<int>(each.bytes.size()));
    }
    const std::vector<int> binary(all.size(), 1);
    if (PQsendQueryPrepared(connection_.get(), name.c_str(), static_cast<int>(all.size()),
                            values.data(), lengths.data(), binary.data(), 1) != 1) {
        lose("not sent");
    }
}

void connection::data_moved() {
    until_ =
        clock::now() + options_.round_trip + milliseconds(trip_bytes_ / written_per_millisecond);
}

void connection::wait(short events) {
    pollfd socket{PQsocket(connection_.get()), events, 0};
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(until_ - clock::now());
        if (left.count() <= 0) lose("no answer in time");
        const int ready = poll(&socket, 1, static_cast<int>(left.count()));
        if (ready > 0) return data_moved();
        if (ready < 0 && errno != EINTR) lose("its socket failed");
    }
}

// Reads, too, so that neither side waits for the other with full buffers.
void connection::flush() {
    for (;;) {
        const int left = PQflush(connection_.get());
        if (left == 0) return;
        if (left < 0) lose("not sent");
        wait(POLLIN | POLLOUT);
        if (PQconsumeInput(connection_.get()) != 1) lose("connection lost");
    }
}

result connection::next() {
    while (PQisBusy(connection_.get()) != 0) {
        wait(POLLIN);
        if (PQconsumeInput(connection_.get()) != 1) lose("connection lost");
        flush();
    }
    result got(PQgetResult(connection_.get()));
    if (PQstatus(connection_.get()) != CONNECTION_OK) lose("connection lost");
    return got;
}

// Keeps the first failure of a round trip: the others follow from it.
void connection::note(const PGresult& failed) {
    const ExecStatusType status = PQresultStatus(&failed);
    if (failed_ || status == PGRES_PIPELINE_ABORTED) return;
    const auto field = [&](int which) {
        const char* const text = PQresultErrorField(&failed, which);
        return std::string(text ? text : "");
    };
    const std::string state = field(PG_DIAG_SQLSTATE);
    // Not the detail: it may have a row's values.
    const std::string text =
        "PostgreSQL: " + field(PG_DIAG_MESSAGE_PRIMARY) + " (SQLSTATE " + state + ")";
    if (is_of_connection(state) || state.empty()) {
        close();
        throw connection_lost(text);
    }
    const std::string constraint = field(PG_DIAG_CONSTRAINT_NAME);
    conflicts_ = constraint == "batches_pkey" || constraint == "batches_n_check";
    failed_ = std::make_unique<store_failure>(meaning_of(state), text);
}

// A failed statement ends the pipeline, but not the transaction.
void connection::roll_back() {
    if (PQexitPipelineMode(connection_.get()) != 1) lose("an answer out of order");
    if (PQtransactionStatus(connection_.get()) != PQTRANS_INERROR) return;
    const auto failed = std::exchange(failed_, nullptr);
    const bool conflicts = conflicts_;
    execute("ROLLBACK");
    failed_ = std::make_unique<store_failure>(*failed);
    conflicts_ = conflicts;
}

void connection::execute(const std::string& text) {
    receive_rest();
    open();
    begin_trip();
    if (PQsendQuery(connection_.get(), text.c_str()) != 1) lose("not sent");
    flush();
    failed_.reset();
    while (const result each = next()) {
        const ExecStatusType status = PQresultStatus(each.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) note(*each);
    }
    if (!failed_) return;
    close();
    throw store_failure(*failed_);
}

}  // namespace callsign::postgres
