// fill: creates millions of tasks, with slots, versions and numbers, in a data directory, to
// measure a server with a large store. It applies the rules through the store port, in large
// batches: the rows equal those that the server would write.
//
//     fill --data-dir DIR --tasks 3000000
//     fill --data-dir DIR --tasks 10                                smallest useful run
//
// Prints the account's name and token as JSON to standard output, progress to standard error.

#include "callsign/v1/callsign.pb.h"
#include "draw.hpp"
#include "local_store.hpp"
#include "options.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/store/sqlite.hpp>
#include <callsign/wire/convert.hpp>

#include <random>
#include <string>
#include <vector>

namespace callsign::bench {
namespace {

using steady_clock = std::chrono::steady_clock;

struct settings {
    std::string data_dir;
    std::string account = "filled";
    std::uint64_t tasks = 1'000'000;
    std::uint64_t series = 1;
    std::uint64_t batch = 10'000;
    std::uint64_t seed = 1;
};

// Reserves and fulfils in one transaction: the rows are the same as with two.
void create(write_tx& tx, account_id owner, std::uint64_t n, const std::string& prefix,
            std::mt19937_64& random, const rules::moment& m) {
    v1::CreateTask message;
    message.set_description(description_of(n));
    wire::field_errors found;
    auto decoded = wire::to_domain(message, found);
    CALLSIGN_ASSERT(decoded);
    const reserve first{owner, random_key(random), decoded->fingerprint, {}, prefix};
    const auto reserved = rules::apply(tx, first, m);
    const fulfil second{std::get<reserve::reserved>(reserved).slot, prefix,
                        std::move(decoded->attributes)};
    const auto done = rules::apply(tx, second, m);
    CALLSIGN_ASSERT(std::holds_alternative<receipted>(done));
}

// The account's default series, and others, which `load` uses, too.
std::vector<std::string> make_series(store& s, rules::id_source& ids, account_id owner,
                                     std::uint64_t count) {
    std::vector<std::string> prefixes{""};
    const auto tx = s.begin_write();
    for (std::uint64_t n = 1; n < count; ++n) {
        const std::string name = series_name(n);
        const auto made = rules::apply(*tx, create_series{owner, name},
                                       {std::max(wall_time(), s.totals()->last_moment), ids});
        CALLSIGN_ASSERT(std::holds_alternative<series>(made));
        prefixes.push_back(name);
    }
    tx->commit();
    return prefixes;
}

void fill(store& s, rules::id_source& ids, account_id owner, const settings& o) {
    std::mt19937_64 random(o.seed);
    const std::vector<std::string> prefixes = make_series(s, ids, owner, o.series);
    const auto begin = steady_clock::now();
    auto next_report = begin;
    for (std::uint64_t done = 0; done < o.tasks;) {
        const std::uint64_t end = std::min(done + o.batch, o.tasks);
        const rules::moment m{std::max(wall_time(), s.totals()->last_moment), ids};
        const auto tx = s.begin_write();
        for (; done < end; ++done) {
            create(*tx, owner, done, prefixes[done % prefixes.size()], random, m);
        }
        tx->commit();
        s.embedded()->maintain(false);
        if (done < o.tasks && steady_clock::now() < next_report) continue;
        next_report = steady_clock::now() + std::chrono::seconds(2);
        const std::chrono::duration<double> took = steady_clock::now() - begin;
        std::fprintf(stderr, "%llu of %llu tasks, %.0f/s\n", static_cast<unsigned long long>(done),
                     static_cast<unsigned long long>(o.tasks),
                     static_cast<double>(done) / took.count());
    }
}

int run(int argc, char** argv) {
    settings o;
    options flags("fill: tasks and slots for a data directory, without a server.");
    flags.add("--data-dir", o.data_dir, "data directory, created if missing; no server may use it");
    flags.add("--tasks", o.tasks, "number of tasks");
    flags.add("--series", o.series,
              "number of series: the default and S0001, S0002, ..., used in turn");
    flags.add("--account", o.account, "name of the account to create; its prefix is FILL");
    flags.add("--batch", o.batch, "tasks per transaction");
    flags.add("--seed", o.seed, "seed of the keys");
    flags.parse(argc, argv);
    if (o.data_dir.empty() || o.batch == 0) options::fail("--data-dir is required");
    if (o.series < 1 || o.series > series_max) options::fail("--series must be 1..1000");

    const auto s = open_sqlite({.data_dir = o.data_dir});
    seeded_ids ids(o.seed);
    const local_account owner = make_account(*s, ids, o.account, "FILL");
    fill(*s, ids, owner.id, o);
    std::printf("{\"account\":\"%s\",\"prefix\":\"FILL\",\"token\":\"%s\",\"tasks\":%llu}\n",
                o.account.c_str(), owner.token.c_str(), static_cast<unsigned long long>(o.tasks));
    return 0;
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    using namespace callsign::bench;
    return run_program("fill", [&] { return run(argc, argv); });
}
