// Reads every row of every table. Verifies that each can be read, and that counts, byte totals and
// last IDs match the rows.

#include "audit/parts.hpp"

#include <callsign/domain/task_faults.hpp>
#include <callsign/ports/tables/all.hpp>

#include <map>
#include <tuple>
#include <type_traits>

namespace callsign::rules::auditing {
namespace {

std::int64_t place_in(account_class c) {
    return static_cast<std::int64_t>(c);
}
template <class Id>
std::int64_t place_in(Id id) {
    return number_of(id);
}

class row_audit {
  public:
    row_audit(read_tx& tx, findings& found) : tx_(tx), found_(found) {}

    void run() {
        found_.begin(proofs::readable);
        look_at_accounts();
        look_at_tasks();
        look_at_chains();
        look_at_others();
        for (const auto& [name, rows] : counted_) found_.count(name, rows);
        for (const proof* p :
             {&proofs::slot_totals, &proofs::totals, &proofs::last_ids, &proofs::stored_bytes}) {
            found_.begin(*p);
        }
        compare_bytes();
        try {
            compare(*tx_.expect<totals_by_id>(store_totals::only));
        } catch (const store_failure&) {
            // Reported as unreadable.
        }
    }

  private:
    // ---- reading ----

    // Calls `see` for each row that can be read. Returns the number of rows; none: some cannot be.
    template <class Row, class See>
    std::optional<std::int64_t> each(const See& see) {
        using index = primary_of<Row>;
        const std::string name(info_of_table<Row>().name);
        std::int64_t rows = 0;
        bool are_all = true;
        const auto see_one = [&](const row_of<Row>& row) {
            ++rows;
            see(*row);
        };
        const auto unreadable = [&](const std::string& where, const std::string& why) {
            are_all = false;
            found_.unreadable(proofs::readable, name + where + " cannot be read: " + why);
        };
        if constexpr (std::tuple_size_v<index_key<index>> == 1) {
            using id = std::tuple_element_t<0, index_key<index>>;
            each_row(
                whole_rows_at_once,
                [&](std::int64_t after, std::int64_t limit) {
                    return tx_.all(range_of<index>().after(id(after)).limit(limit));
                },
                [](const row_of<Row>& row) { return place_in(std::get<0>(index::key(*row))); },
                see_one,
                [&](std::int64_t from, std::int64_t to, const std::string& why) {
                    unreadable(": rows" + between(from, to), why);
                });
        } else {
            try {
                tx_.scan(range_of<index>(), [&](const row_of<Row>& row) {
                    see_one(row);
                    return true;
                });
            } catch (const store_failure& failure) {
                unreadable(": rows behind the first " + std::to_string(rows), failure.what());
            }
        }
        return are_all ? std::optional(rows) : std::nullopt;
    }
    template <class Row>
    std::optional<std::int64_t> each() {
        return each<Row>([](const Row&) {});
    }
    // For a table whose IDs come from write_tx::draw().
    template <class Row, class See>
    std::optional<std::int64_t> each(drawn_id drawn, const See& see) {
        return each<Row>([&](const Row& row) {
            const std::int64_t id = number_of(std::get<0>(primary_of<Row>::key(row)));
            last_given& last = last_ids_[static_cast<std::size_t>(drawn)];
            last = {info_of_table<Row>().name, std::max(last.id, id)};
            see(row);
        });
    }
    template <class Row>
    std::optional<std::int64_t> each(drawn_id drawn) {
        return each<Row>(drawn, [](const Row&) {});
    }
    void count(const char* name, std::optional<std::int64_t> rows) {
        if (rows) counted_.emplace_back(name, *rows);
    }

    // ---- the tables ----

    void look_at_accounts() {
        accounts_ = each<account>(drawn_id::account, [&](const account& a) {
            if (a.state == account_state::removing) return;  // some of its rows are deleted already
            stored_.emplace(a.id, stored{a.stored_bytes});
        });
        count("accounts", accounts_);
        std::int64_t held = 0;
        const auto all =
            each<series>(drawn_id::series, [&](const series& s) { held += s.held ? 1 : 0; });
        if (all) held_ = held;
        count("series", all);
        each<prefix_row>();
        each<counter_row>(drawn_id::counter,
                          [&](const counter_row& c) { series_of_.emplace(c.id, c.series); });
        each<skipped_row>();
        count("clients",
              each<device>(drawn_id::device, [&](const device& d) { look_for_owner(d); }));
        each<token_row>(drawn_id::token);
    }
    void look_for_owner(const device& d) {
        try {
            if (tx_.get<accounts_by_id>(d.account)) return;
        } catch (const store_failure&) {
            return;  // reported as unreadable
        }
        found_.fault(proofs::clients, "device " + std::to_string(d.id.value) + ": account " +
                                          std::to_string(d.account.value) + " does not exist");
    }

    void store_for(account_id account, std::size_t bytes) {
        const auto its = stored_.find(account);
        if (its != stored_.end()) its->second.there += static_cast<std::int64_t>(bytes);
    }

    void look_at_tasks() {
        slot_counts slots;
        const auto all = each<slot>(drawn_id::slot, [&](const slot& s) {
            ++slots.of(s.state);
            if (s.expires) store_for(s.account, size_of_outcome(s.key));
        });
        if (all) slots_ = slots;
        count("slots", all);
        std::int64_t open = 0;
        tasks_ = each<task_row>(drawn_id::task, [&](const task_row& t) {
            open += t.numbered && !t.over ? 1 : 0;
            look_at(t);
        });
        if (tasks_) open_tasks_ = open;
        count("tasks", tasks_);
        each<history_row>(drawn_id::history);
        each<purge>();
        const auto requests = each<kept_request>(
            [&](const kept_request& r) { store_for(r.account, size_of_outcome(r)); });
        if (!all || !requests) are_bytes_known_ = false;
    }
    void look_at(const task_row& t) {
        const auto say = [&](const proof& p, const std::string& what) {
            found_.fault(p, "tasks, row " + std::to_string(t.id.value) + ": " + what);
        };
        if (t.over != (t.purged || is_over(t.attributes))) {
            say(proofs::readable, "wrong open or closed state");
        }
        if (t.bytes != size_of(t.attributes)) say(proofs::readable, "wrong size");
        if (!t.numbered) return;
        const auto its = series_of_.find(t.numbered->counter);
        if (its != series_of_.end() && its->second == t.series) return;
        say(proofs::counted,
            "number " + std::to_string(t.numbered->number) + " of series " +
                std::to_string(t.series.value) + ", and its counter is of series " +
                (its == series_of_.end() ? "none" : std::to_string(its->second.value)));
    }

    void look_at_chains() {
        const auto versions = each<version_row>(
            drawn_id::version, [&](const version_row& v) { store_for(v.account, v.bytes); });
        const auto sealed = each<sealed_version>(drawn_id::sealed, [&](const sealed_version& v) {
            store_for(v.account, v.segment.size());
        });
        const auto snapshots = each<snapshot_row>(
            [&](const snapshot_row& s) { store_for(s.account, s.bytes.size()); });
        if (!versions || !sealed || !snapshots) are_bytes_known_ = false;
        count("versions", versions);
        count("sealed versions", sealed);
        count("fork versions", each<fork_row>(drawn_id::fork));
    }

    void look_at_others() {
        each<remote_chain>();
        count("effects", each<effect>(drawn_id::effect));
        each<contest_row>();
        each<webhook>(drawn_id::webhook);
        each<delivery_row>(drawn_id::delivery);
        each<action_row>(drawn_id::action);
        each<kept_retry_times>();
        each<instance_row>();
        each<store_totals>();
    }

    // ---- comparisons ----

    void compare_bytes() {
        if (!are_bytes_known_) return;
        for (const auto& [account, bytes] : stored_) {
            if (bytes.said == bytes.there) continue;
            found_.fault(proofs::stored_bytes, name_of(account) + std::to_string(bytes.said) +
                                                   " stored bytes are recorded, and there are " +
                                                   std::to_string(bytes.there));
        }
    }

    void compare(const store_totals& totals) {
        found_.report.last_moment = totals.last_moment;
        const auto agree = [&](const proof& p, const char* of, std::int64_t said,
                               std::optional<std::int64_t> there) {
            if (!there || said == *there) return;
            found_.fault(p, "totals record " + std::to_string(said) + " " + of +
                                ", and there are " + std::to_string(*there));
        };
        if (slots_) {
            agree(proofs::slot_totals, "pending", totals.slots.pending, slots_->pending);
            agree(proofs::slot_totals, "in flight", totals.slots.in_flight, slots_->in_flight);
            agree(proofs::slot_totals, "committed", totals.slots.committed, slots_->committed);
            agree(proofs::slot_totals, "failed", totals.slots.failed, slots_->failed);
        }
        agree(proofs::totals, "accounts", totals.accounts, accounts_);
        agree(proofs::totals, "tasks", totals.tasks, tasks_);
        agree(proofs::totals, "open tasks", totals.open_tasks, open_tasks_);
        agree(proofs::totals, "held series", totals.held_series, held_);
        for (std::size_t n = 0; n < drawn_ids; ++n) {
            const last_given& last = last_ids_[n];
            if (last.id <= totals.last_ids[n]) continue;
            found_.fault(proofs::last_ids, "the last id of " + std::string(last.table) +
                                               " is recorded as " +
                                               std::to_string(totals.last_ids[n]) +
                                               ", and there is " + std::to_string(last.id));
        }
    }

    struct stored {
        std::int64_t said = 0;
        std::int64_t there = 0;
    };
    struct last_given {
        std::string_view table;
        std::int64_t id = 0;
    };

    read_tx& tx_;
    findings& found_;
    std::vector<std::pair<const char*, std::int64_t>> counted_;
    std::map<account_id, stored> stored_;
    bool are_bytes_known_ = true;  // all rows with stored bytes can be read
    std::map<counter_id, series_id> series_of_;
    std::array<last_given, drawn_ids> last_ids_{};
    // None: some rows cannot be read.
    std::optional<std::int64_t> accounts_, tasks_, open_tasks_, held_;
    std::optional<slot_counts> slots_;
};

}  // namespace

void look_at_rows(read_tx& tx, findings& found) {
    row_audit(tx, found).run();
}

}  // namespace callsign::rules::auditing
