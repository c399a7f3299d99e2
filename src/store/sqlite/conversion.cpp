#include "conversion.hpp"

#include <cstdint>

namespace callsign::sqlite {
namespace {

// The rows of one step, and how many steps the log may hold.
constexpr std::int64_t rows_at_once = 4'096;
constexpr std::int64_t steps_in_log = 8;

constexpr auto old_count = "SELECT count(*) FROM old_versions";
constexpr auto move_versions =
    "INSERT INTO versions (account_id, seq, version_id, parent_id, created_at, author, operations)"
    " SELECT account_id, seq, version_id, parent_id, created_at, author, operations"
    " FROM old_versions ORDER BY account_id, seq LIMIT ?";
constexpr auto place_versions =
    "INSERT INTO version_places (account_id, seq, version_row)"
    " SELECT account_id, seq, version_row FROM versions WHERE version_row >"
    " (SELECT places_through FROM totals)";
constexpr auto placed =
    "UPDATE totals SET places_through = (SELECT max(version_row) FROM versions)";
constexpr auto last_moved =
    "SELECT account_id, seq FROM old_versions ORDER BY account_id, seq LIMIT 1 OFFSET ? - 1";
constexpr auto drop_versions = "DELETE FROM old_versions WHERE (account_id, seq) <= (?, ?)";

constexpr auto number_count = "SELECT count(*) FROM tasks WHERE number IS NOT NULL";
constexpr auto numbered_count = "SELECT count(*) FROM task_numbers";
constexpr auto last_number =
    "SELECT counter_id, over, number FROM task_numbers"
    " ORDER BY counter_id DESC, over DESC, number DESC LIMIT 1";
constexpr auto put_numbers =
    "INSERT INTO task_numbers (counter_id, over, number, task_id)"
    " SELECT counter_id, over, number, task_id FROM tasks INDEXED BY tasks_by_number"
    " WHERE number IS NOT NULL AND (counter_id, over, number) > (?, ?, ?)"
    " ORDER BY counter_id, over, number LIMIT ?";

class steps {
  public:
    steps(connection& db, const store_progress& progress, const char* what, std::int64_t done,
          std::int64_t all)
        : db_(db), progress_(progress), what_(what), done_(done), all_(all) {}

    // Until one moves nothing; each says how many rows it moved.
    template <class Step>
    void run(Step step) {
        for (std::int64_t taken = 1, moved = 1; moved > 0; ++taken) {
            db_.execute("BEGIN IMMEDIATE");
            moved = step();
            db_.execute("COMMIT");
            done_ += moved;
            if (progress_) progress_(what_, done_, all_);
            if (moved == 0 || taken % steps_in_log == 0) {
                db_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
            }
        }
    }

  private:
    connection& db_;
    const store_progress& progress_;
    const char* what_;
    std::int64_t done_;
    std::int64_t all_;
};

std::int64_t move_some_versions(connection& db) {
    db.use(move_versions).bind(rows_at_once).run();
    const std::int64_t moved = db.database().getChanges();
    if (moved == 0) return 0;
    db.use(place_versions).run();
    db.use(placed).run();
    auto last = db.use(last_moved);
    last.bind(moved).step();
    const std::int64_t account = last.integer(0), seq = last.integer(1);
    db.use(drop_versions).bind(account).bind(seq).run();
    return moved;
}

std::int64_t put_some_numbers(connection& db) {
    std::int64_t counter = 0, over = 0, number = 0;
    {
        auto q = db.use(last_number);
        if (q.step()) {
            counter = q.integer(0);
            over = q.integer(1);
            number = q.integer(2);
        }
    }
    db.use(put_numbers).bind(counter).bind(over).bind(number).bind(4 * rows_at_once).run();
    return db.database().getChanges();
}

}  // namespace

void move_to_bulk_indexes(connection& db, const store_progress& progress) {
    steps(db, progress, "versions", 0, db.integer_of(old_count)).run([&] {
        return move_some_versions(db);
    });
    steps(db, progress, "numbers", db.integer_of(numbered_count), db.integer_of(number_count))
        .run([&] { return put_some_numbers(db); });
}

}  // namespace callsign::sqlite
