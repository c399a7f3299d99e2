// micro: the cost of each part of a creation on one core (google-benchmark), along the request
// path: parsing, the two phases on a store, serialisation. Compares the parser of requests with
// Beast's.
//
//     micro
//     micro --benchmark_min_time=0.01                               smallest useful run
//
// The stores commit 64 creations at a time, as group commit does under load; the SQLite store is in
// a temporary directory (TMPDIR).

#include "callsign/v1/callsign.pb.h"
#include "local_store.hpp"
#include "net/request_reader.hpp"
#include "support/temp_dir.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/store/memory.hpp>
#include <callsign/store/sqlite.hpp>
#include <callsign/wire/convert.hpp>

#include <benchmark/benchmark.h>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstring>

namespace callsign::bench {
namespace {

constexpr int batch = 64;

v1::CreateTask typical_message() {
    v1::CreateTask message;
    message.set_description(description_of(42));
    message.set_project("house.water");
    message.add_tags("urgent");
    message.add_tags("plumbing");
    message.set_priority("H");
    return message;
}

std::string typical_bytes(wire::format form) {
    return wire::encode(form, typical_message());
}

receipt typical_receipt() {
    receipt r;
    r.uuid = seeded_ids(1).next(wall_time());
    r.prefix = "SYN";
    r.number = 123'456;
    r.seq = 234'567;
    r.created_at = wall_time();
    return r;
}

// ---- parsing and serialisation ----

void decode_and_fingerprint(benchmark::State& state, wire::format form) {
    const std::string bytes = typical_bytes(form);
    for (auto _ : state) {
        v1::CreateTask message;
        wire::field_errors found;
        CALLSIGN_ASSERT(wire::decode(form, bytes, message, found));
        auto decoded = wire::to_domain(message, found);
        benchmark::DoNotOptimize(decoded);
    }
}
BENCHMARK_CAPTURE(decode_and_fingerprint, json, wire::format::json);
BENCHMARK_CAPTURE(decode_and_fingerprint, protobuf, wire::format::protobuf);

void encode_receipt(benchmark::State& state, wire::format form) {
    const receipt r = typical_receipt();
    for (auto _ : state) {
        auto bytes = wire::encode(form, wire::to_message(r));
        benchmark::DoNotOptimize(bytes);
    }
}
BENCHMARK_CAPTURE(encode_receipt, json, wire::format::json);
BENCHMARK_CAPTURE(encode_receipt, protobuf, wire::format::protobuf);

// ---- HTTP ----

// A creation as clients send it; the first read returns all of it.
std::string typical_post() {
    const std::string body = typical_bytes(wire::format::json);
    return "POST /v1/tasks HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAuthorization: Bearer cs_" +
           std::string(43, 't') +
           "\r\nContent-Type: application/json\r\nAccept: application/json\r\nIdempotency-Key: "
           "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

void read_request_ours(benchmark::State& state) {
    const std::string post = typical_post();
    const net::http_options options;
    const net::http_hooks hooks;
    net::body_lease memory;
    net::request_reader reader(options, hooks, memory);
    for (auto _ : state) {
        reader.begin();
        CALLSIGN_ASSERT(reader.advance() == net::request_reader::step::need_more);
        std::memcpy(reader.space().data(), post.data(), post.size());
        reader.received(post.size());
        CALLSIGN_ASSERT(reader.advance() == net::request_reader::step::ready);
        auto request = reader.take();
        benchmark::DoNotOptimize(request);
    }
}
BENCHMARK(read_request_ours);

void read_request_beast(benchmark::State& state) {
    namespace http = boost::beast::http;
    const std::string post = typical_post();
    boost::beast::flat_buffer buffer;
    for (auto _ : state) {
        http::request_parser<http::string_body> parser;
        parser.eager(true);
        std::memcpy(buffer.prepare(post.size()).data(), post.data(), post.size());
        buffer.commit(post.size());
        boost::system::error_code error;
        buffer.consume(parser.put(buffer.data(), error));
        CALLSIGN_ASSERT(!error && parser.is_done() && buffer.size() == 0);
        auto request = parser.release();
        benchmark::DoNotOptimize(request);
    }
}
BENCHMARK(read_request_beast);

// ---- the two phases ----

// Creates one batch at a time: reserves all, commits, fulfils all, commits.
class two_phases {
  public:
    explicit two_phases(store& s)
        : store_(s), ids_(1), random_(1), account_(make_account(s, ids_, "micro", "MIC").id) {
        wire::field_errors found;
        decoded_ = *wire::to_domain(typical_message(), found);
    }

    void reserve_all() {
        slots_.clear();
        in_transaction([&](write_tx& tx, const rules::moment& m) {
            const reserve c{account_, random_key(random_), decoded_.fingerprint, {}, {}};
            const auto answer = rules::apply(tx, c, m);
            slots_.push_back(std::get<reserve::reserved>(answer).slot);
        });
    }

    void fulfil_all() {
        auto next = slots_.begin();
        in_transaction([&](write_tx& tx, const rules::moment& m) {
            const fulfil c{*next++, {}, decoded_.attributes};
            const auto answer = rules::apply(tx, c, m);
            CALLSIGN_ASSERT(std::holds_alternative<receipted>(answer));
        });
    }

  private:
    template <class Step>
    void in_transaction(Step step) {
        const rules::moment m{std::max(wall_time(), store_.totals()->last_moment), ids_};
        const auto tx = store_.begin_write();
        for (int i = 0; i < batch; ++i) step(*tx, m);
        tx->commit();
        store_.embedded()->maintain(false);
    }

    store& store_;
    seeded_ids ids_;
    std::mt19937_64 random_;
    account_id account_;
    wire::decoded_create decoded_;
    std::vector<slot_id> slots_;
};

void reserve_one(benchmark::State& state, store& s) {
    two_phases work(s);
    for (auto _ : state) work.reserve_all();
    state.SetItemsProcessed(state.iterations() * batch);
}

void create_one(benchmark::State& state, store& s) {
    two_phases work(s);
    for (auto _ : state) {
        work.reserve_all();
        work.fulfil_all();
    }
    state.SetItemsProcessed(state.iterations() * batch);
}

void reserve_64_in_memory(benchmark::State& state) {
    reserve_one(state, *make_memory_store());
}
BENCHMARK(reserve_64_in_memory);

void create_64_in_memory(benchmark::State& state) {
    create_one(state, *make_memory_store());
}
BENCHMARK(create_64_in_memory);

void reserve_64_in_sqlite(benchmark::State& state) {
    const testing::temp_dir dir;
    reserve_one(state, *open_sqlite({.data_dir = dir.path()}));
}
BENCHMARK(reserve_64_in_sqlite)->UseRealTime();

void create_64_in_sqlite(benchmark::State& state) {
    const testing::temp_dir dir;
    create_one(state, *open_sqlite({.data_dir = dir.path()}));
}
BENCHMARK(create_64_in_sqlite)->UseRealTime();

}  // namespace
}  // namespace callsign::bench

BENCHMARK_MAIN();
