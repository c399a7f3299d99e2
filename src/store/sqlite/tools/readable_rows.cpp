// Every row of every table, read as the store reads it. Damage does not end it: what cannot be read
// is a fault by table and row, and the rest is read all the same.

#include "reads.hpp"
#include "statements.hpp"
#include "tables/tables.hpp"
#include "tools/storage_checks.hpp"

#include <callsign/domain/task_faults.hpp>
#include <callsign/ports/around_damage.hpp>
#include <callsign/ports/tables/all.hpp>

#include <functional>

namespace callsign::sqlite {
namespace {

constexpr proof readable_rows{"file", "every row can be read"};

// Every row of a table by itself, whatever the others are. `rows`: those after one, in their order.
struct looked_at {
    const char* name;
    const char* rows;
    std::function<void(query&)> look_at;
};

const looked_at tables_in_sql[] = {
    {"pending_slots", "SELECT slot_id, task_uuid FROM pending_slots WHERE slot_id > ? ORDER BY 1",
     [](query& q) { q.id(1); }},
};

void look_at_row(query& q, const table_info& t) {
    const row_ptr row = row_in(q, t);
    if (&t != &info_of_table<task_row>()) return;
    const auto& task = *static_cast<const task_row*>(row.get());
    if (task.over != (task.purged || is_over(task.attributes))) q.damaged("whether it is over");
    if (task.bytes != size_of(task.attributes)) q.damaged("its size");
}

class row_reader {
  public:
    row_reader(connection& db, findings& found) : db_(db), found_(found) {}

    void run() {
        for (const looked_at& t : tables_in_sql) read_rows(t);
        for (const table_info* const t : all_tables()) {
            read_rows({t->name.data(), rows_behind(*t), [t](query& q) { look_at_row(q, *t); }});
        }
    }

  private:
    void read_rows(const looked_at& t) {
        for (std::int64_t last = INT64_MIN, passed = last;;) {
            std::string why;
            try {
                auto q = db_.use(t.rows);
                q.bind(last);
                while (q.step()) {
                    last = q.integer(0);
                    q.at(t.name, last);
                    readable([&] { t.look_at(q); });
                }
                return;
            } catch (const store_failure& failure) {
                why = failure.what();
            }
            const auto next = next_readable(last, [&](std::int64_t place) {
                auto q = db_.use(t.rows);
                q.bind(place).step();
            });
            found_.fault(readable_rows,
                         std::string(t.name) + ": rows after " +
                             (last == INT64_MIN ? "the beginning" : std::to_string(last)) +
                             (next ? " and before " + std::to_string(*next + 1) : "") +
                             " cannot be read: " + why);
            // Rows out of order would lead round and round.
            if (!next || *next <= passed) return;
            passed = last = *next;
        }
    }

    template <class Look>
    void readable(Look look) {
        try {
            look();
        } catch (const store_failure& failure) {
            found_.fault(readable_rows, failure.what());
        }
    }

    connection& db_;
    findings& found_;
};

}  // namespace

void check_rows(connection& db, findings& found) {
    check_part(found, readable_rows, [&] { row_reader(db, found).run(); });
}

}  // namespace callsign::sqlite
