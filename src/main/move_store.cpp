#include "move_store.hpp"

#include <callsign/domain/task_faults.hpp>
#include <callsign/platform/real.hpp>
#include <callsign/rules/audit.hpp>
#include <callsign/rules/copy_store.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/postgres.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

namespace callsign {
namespace {

constexpr milliseconds look_interval{250};

// For commands that create nothing with an ID.
class no_ids final : public rules::id_source {
  public:
    uuid next(time_point) override { return {}; }
};

// What a program needs to own a database.
struct database_owner {
    std::unique_ptr<clock> time = platform::make_real_clock();
    std::unique_ptr<entropy> random = platform::make_real_entropy();
    std::unique_ptr<store> owned{};

    // Waits until no server owns it. Throws std::runtime_error if one does.
    store& take(postgres_options options, const findings::progress& progress) {
        const milliseconds wait_max = 2 * options.log.lease;
        const auto standby = open_postgres(std::move(options), *time, draw_uuid(*random));
        const milliseconds until = time->elapsed() + wait_max;
        for (;;) {
            try {
                if (standby->look()) owned = standby->take_over();
            } catch (const store_failure& failure) {
                throw std::runtime_error(failure.what());
            }
            if (owned) return *owned;
            if (time->elapsed() > until) {
                throw std::runtime_error("a server runs on the database: stop it first");
            }
            progress("waiting for the database");
            std::this_thread::sleep_for(look_interval);
        }
    }
};

postgres_options options_for(const std::string& url, bool moves) {
    postgres_options options{.url = url, .server = "callsign"};
    options.log.moves = moves;
    return options;
}

std::unique_ptr<store> open_directory(const std::filesystem::path& dir) {
    return open_sqlite({.data_dir = dir, .moves = true});
}

}  // namespace

check_report check_store(const store_place& place, time_point now,
                         const findings::progress& progress) {
    const time_point made_before = now - incomplete_after;
    if (place.url.empty()) {
        return check_sqlite(place.data_dir, rules::audit, progress, made_before);
    }
    return check_postgres(options_for(place.url, false), rules::audit, progress, made_before);
}

moved_store move_store(const store_place& from, const store_place& to, time_point now,
                       const findings::progress& progress) {
    const bool is_to_database = from.url.empty();
    const std::filesystem::path& dir = is_to_database ? from.data_dir : to.data_dir;
    if (is_to_database && !std::filesystem::exists(dir / "callsign.sqlite3")) {
        throw std::runtime_error("there is no callsign.sqlite3 in " + dir.string());
    }
    const bool is_new = mark_of_data_dir(dir).empty();
    if (!is_to_database && is_new && std::filesystem::exists(dir / "callsign.sqlite3")) {
        throw std::runtime_error("there is a store in " + dir.string() + " already");
    }
    prepare_data_dir(dir);
    // The first of both is the one that a server is more likely to have open.
    auto embedded = is_to_database ? open_directory(dir) : nullptr;
    database_owner database;
    store& shared = database.take(options_for(is_to_database ? to.url : from.url, true), progress);
    // From now on no server opens the directory, and a new store in it is known to be of this move.
    mark_data_dir(dir, "a move of the store is unfinished: repeat callsign move");
    if (!embedded) embedded = open_directory(dir);
    store& source = is_to_database ? *embedded : shared;
    store& target = is_to_database ? shared : *embedded;
    moved_store done;
    done.rows = rules::copy_store(
        *source.begin_read(), target, [&](std::string_view table, std::int64_t rows) {
            progress("copying " + std::string(table) + ", " + std::to_string(rows) + " rows");
            shared.shared()->keep();
        });
    embedded.reset();
    const findings::progress kept = [&](std::string_view what) {
        progress("checking " + std::string(what));
        shared.shared()->keep();
    };
    done.from = check_store(from, now, kept);
    done.to = check_store(to, now, kept);
    if (!done.from.ok() || !done.to.ok()) return done;
    shared.shared()->finish_move(is_to_database);
    mark_data_dir(dir, is_to_database ? "the store was moved to a database: set store.url" : "");
    return done;
}

std::int64_t mark_restored_in(store& restored, time_point made_at, time_point now) {
    const time_point at = std::max(now, restored.totals()->last_moment);
    const auto random = platform::make_real_entropy();
    no_ids none;
    const auto tx = restored.begin_write();
    const mark_restored command{draw_uuid(*random), made_at};
    const std::int64_t held = rules::apply(*tx, command, {.now = at, .ids = none}).held;
    tx->commit();
    return held;
}

std::int64_t mark_database_restored(const std::string& url, time_point now) {
    database_owner database;
    store& restored = database.take(options_for(url, false), [](std::string_view) {});
    return mark_restored_in(restored, restored.totals()->last_moment, now);
}

}  // namespace callsign
