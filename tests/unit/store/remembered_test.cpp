// Compares the in-memory data that replaces indexes in the writer with an in-memory store, with
// limits so small that merges run constantly and slots leave the window: both find the same rows
// after merges, rollbacks, restarts and removals, and in snapshots from before.

#include "support/check.hpp"
#include "support/temp_dir.hpp"
#include "t0.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/removal.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/store/memory.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sstream>

namespace callsign::testing {
namespace {

uuid uuid_of(std::int64_t n) {
    uuid id{};
    for (int i = 0; i < 8; ++i) id.data[15 - i] = static_cast<std::uint8_t>(n >> (8 * i));
    return id;
}

// All rows that are found through the indexes, as text.
std::string found_in(read_tx& tx) {
    std::ostringstream all;
    std::vector<account> accounts = accounts::all(tx);
    std::ranges::sort(accounts, {}, &account::name);
    for (const account& a : accounts) {
        all << "\naccount " << a.name << ':';
        for (const version& v : versions::some(tx, a.id, 0, read_tx::no_limit)) {
            all << ' ' << v.seq << '=' << to_string(v.id).substr(24);
        }
        all << " or";
        versions::visit(tx, a.id, 2, [&](const version& v) { all << ' ' << v.seq; });
        all << " of which";
        for (const version& v : versions::some(tx, a.id, 1, 3)) all << ' ' << v.seq;
        for (std::int64_t seq = 0; seq <= 12; ++seq) {
            all << (versions::find_id(tx, a.id, seq) ? " y" : " n");
        }
        for (const series& s : all_series::of(tx, a.id)) {
            all << "\n  " << s.prefix << ':';
            for (const bool down : {false, true}) {
                for (const bool open_only : {false, true}) {
                    for (const std::int64_t from : {std::int64_t{0}, std::int64_t{4}, INT64_MAX}) {
                        all << (down ? " down" : " up") << (open_only ? " open" : "");
                        tasks::visit_numbered(tx, {s.id, "", from, down, open_only}, [&](task&& t) {
                            all << ' ' << t.numbered->number << '=' << to_string(t.uuid).substr(24);
                            return true;
                        });
                    }
                }
            }
            for (std::int64_t n = 0; n <= 12; ++n) {
                const auto t = tasks::find(tx, s.id, "", n);
                all << ' ' << (t ? to_string(t->uuid).substr(24) : "-");
            }
        }
    }
    for (const auto state : {slot_state::pending, slot_state::in_flight, slot_state::failed}) {
        all << "\n" << static_cast<int>(state) << ':';
        slot_id last;
        for (const slot& s : slots::some(tx, {}, 2, state, {})) {
            all << ' ' << s.key;
            last = s.id;
        }
        for (const slot& s : slots::some(tx, last, read_tx::no_limit, state, {}))
            all << ' ' << s.key;
    }
    return std::move(all).str();
}

// The uuids that slots wait for.
constexpr std::int64_t waited_for = 1'000'000;

std::string waiting_in(write_tx& tx) {
    std::string all;
    for (const account& a : accounts::all(tx)) {
        for (int n = 0; n < 4; ++n) {
            for (const slot& s : slots::waiting_for(tx, a.id, uuid_of(waited_for + n))) {
                all += a.name + std::to_string(n) + s.key + ' ';
            }
        }
    }
    return all;
}

// Applies the same changes to both.
class both_stores {
  public:
    explicit both_stores(std::size_t entries_max) : entries_max_(entries_max) { reopen(); }

    void reopen() {
        readers_.clear();
        disk_.reset();
        sqlite_options options;
        options.data_dir = dir_.path();
        options.buffered_entries_max = entries_max_;
        options.readers = 4;
        disk_ = open_sqlite(options);
    }

    // Rolls back if `kept` is false.
    void write(bool kept, const std::function<void(write_tx&)>& change) {
        const bool is_flushed = ++writes_ % 2 == 0;
        for (store* const s : {memory_.get(), disk_.get()}) {
            const auto tx = s->begin_write();
            change(*tx);
            if (is_flushed) tx->flush();
            if (kept) tx->commit();
        }
    }
    void expect_same() {
        const auto wanted = memory_->begin_read(), found = disk_->begin_read();
        RC_ASSERT(found_in(*found) == found_in(*wanted));
        const auto in_memory = memory_->begin_write(), on_disk = disk_->begin_write();
        RC_ASSERT(found_in(*on_disk) == found_in(*in_memory));
        RC_ASSERT(waiting_in(*on_disk) == waiting_in(*in_memory));
        RC_ASSERT(disk_->totals()->slots.pending == memory_->totals()->slots.pending);
        RC_ASSERT(disk_->totals()->slots.in_flight == memory_->totals()->slots.in_flight);
        RC_ASSERT(disk_->totals()->open_tasks == memory_->totals()->open_tasks);
    }

    // A snapshot of each, for later comparison.
    void begin_read() {
        if (readers_.size() == 3) readers_.pop_front();
        readers_.push_back({memory_->begin_read(), disk_->begin_read()});
        RC_ASSERT(accounts::all(*readers_.back().disk).size() ==
                  accounts::all(*readers_.back().memory).size());
    }
    void look() {
        for (const auto& r : readers_) RC_ASSERT(found_in(*r.disk) == found_in(*r.memory));
    }
    void expect_sound() {
        reopen();
        disk_.reset();
        const auto report = report_on(dir_.path());
        for (const auto& f : report.faults) {
            // Only errors of the indexes: the generated data violate the checks of the rules.
            RC_ASSERT(f.text.find("the index of") == f.text.npos);
            RC_ASSERT(f.text.find("the totals") == f.text.npos);
            RC_ASSERT(f.text.find("is listed") == f.text.npos);
        }
        reopen();
    }

  private:
    struct snapshots {
        std::unique_ptr<read_tx> memory, disk;
    };

    temp_dir dir_;
    std::size_t entries_max_;
    std::unique_ptr<store> memory_ = make_memory_store(), disk_;
    int writes_ = 0;
    std::deque<snapshots> readers_;
};

// Random changes of the stores, and the state needed to choose valid ones.
class player {
  public:
    explicit player(std::size_t entries_max) : stores_(entries_max) {
        for (int n = 0; n < 3; ++n) make_account();
    }

    void step() {
        const auto which = *rc::gen::inRange(0, 100);
        if (which < 55) return write([&](write_tx& tx) { change(tx); });
        if (which < 65) return stores_.begin_read();
        if (which < 75) return stores_.look();
        if (which < 80) return stores_.reopen();
        if (which < 83) return remove_account();
        if (which < 86) return stores_.expect_sound();
        stores_.expect_same();
    }

  private:
    struct owner {
        std::string name;  // each store has its own id for it
        std::vector<uuid> tasks;
        std::vector<std::string> keys;
    };

    void make_account() {
        const std::string name = "a" + std::to_string(++made_);
        stores_.write(true, [&](write_tx& tx) {
            const account_id id = accounts::put(tx, name, t0);
            all_series::put(tx, id, "S", "", true, t0);
            all_series::put(tx, id, "T", "", false, t0);
        });
        owners_.push_back({name, {}, {}});
    }
    void remove_account() {
        const auto at = *rc::gen::inRange<std::size_t>(0, owners_.size());
        stores_.write(true, [&](write_tx& tx) {
            const account_id id = accounts::find(tx, owners_[at].name)->id;
            for (const std::string& key : owners_[at].keys) {
                const slot s = *slots::find(tx, id, key);
                slots::fail(tx, s.id, failure_reason::window_passed, t0);
                slots::forget(tx, s.id);
            }
            std::optional<removal_place> place = removal_place{};
            while (place) place = remove_rows_of(tx, id, *place, 5);
        });
        owners_.erase(owners_.begin() + static_cast<std::ptrdiff_t>(at));
        make_account();  // gets another id
    }
    void write(const std::function<void(write_tx&)>& change) {
        const auto before = owners_;
        const auto uuids_before = uuids_;
        const bool kept = *rc::gen::inRange(0, 5) > 0;
        const int changes = *rc::gen::inRange(1, 9);
        draws_.clear();
        stores_.write(kept, [&](write_tx& tx) {
            owners_ = before;
            uuids_ = uuids_before;
            drawn_ = 0;
            for (int n = 0; n < changes; ++n) change(tx);
        });
        if (!kept) owners_ = before;
    }
    // Both stores get the same changes: the random choices for one are repeated for the other.
    int draw(int below) {
        if (drawn_ == draws_.size()) draws_.push_back(*rc::gen::inRange(0, 1'000'000));
        return draws_[drawn_++] % below;
    }

    void change(write_tx& tx) {
        owner& o = owners_[static_cast<std::size_t>(draw(static_cast<int>(owners_.size())))];
        const account_id account = accounts::find(tx, o.name)->id;
        const series_id series = all_series::find(tx, account, draw(2) == 0 ? "S" : "T")->id;
        const int what = draw(14);
        if (what >= 10) return change_slots(tx, account, o);
        if (what < 5 || o.tasks.empty()) {
            task t;
            t.account = account;
            t.uuid = uuid_of(++uuids_);
            t.created_at = t0;
            if (draw(3) == 0) t.attributes = {{"status", "completed"}};
            t.last_seq = versions::append(tx, account, uuid_of(++uuids_), t0, {});
            if (draw(4) > 0) t.numbered = receipt_of(t, take(tx, series), t.last_seq);
            tasks::put(tx, t, series);
            o.tasks.push_back(t.uuid);
            return;
        }
        const uuid id = o.tasks[static_cast<std::size_t>(draw(static_cast<int>(o.tasks.size())))];
        const task before = *tasks::find(tx, account, id);
        const std::int64_t seq = versions::append(tx, account, uuid_of(++uuids_), t0, {});
        if (!before.numbered) {
            tasks::number(tx, before.id, series, receipt_of(before, take(tx, series), seq));
        } else if (!before.purged) {
            const char* const status = draw(2) == 0 ? "pending" : "completed";
            tasks::update(tx, before, {{"status", status}}, draw(6) == 0, seq, t0);
        }
    }
    void change_slots(write_tx& tx, account_id account, owner& o) {
        if (draw(2) == 0 || o.keys.empty()) {
            slot s;
            s.account = account;
            s.key = "k" + std::to_string(++uuids_);
            s.uuid = uuid_of(waited_for + draw(4));
            s.created_at = t0;
            slots::put(tx, s);
            o.keys.push_back(s.key);
            return;
        }
        const auto key = o.keys.begin() + draw(static_cast<int>(o.keys.size()));
        const slot s = *slots::find(tx, account, *key);
        if (s.state == slot_state::failed) {
            slots::forget(tx, s.id);
            o.keys.erase(key);
        } else if (draw(3) == 0) {
            slots::begin_flight(tx, s.id);
        } else {
            slots::fail(tx, s.id, failure_reason::window_passed, t0);
        }
    }
    // Some numbers are skipped, and some of those are assigned later.
    std::int64_t take(write_tx& tx, series_id series) {
        const std::int64_t last = callsign::numbers::last(tx, series, "");
        const std::int64_t wanted = 1 + draw(static_cast<int>(last) + 1);
        if (callsign::numbers::is_skipped(tx, series, "", wanted)) {
            callsign::numbers::reclaim(tx, series, "", wanted);
            return wanted;
        }
        if (draw(8) == 0) callsign::numbers::skip(tx, series, "", last + 2);
        return callsign::numbers::take(tx, series, "");
    }
    static receipt receipt_of(const task& t, std::int64_t number, std::int64_t seq) {
        return {t.uuid, "S", "", number, seq, t0, true};
    }

    both_stores stores_;
    std::vector<owner> owners_;
    int made_ = 0;
    std::int64_t uuids_ = 0;
    std::vector<int> draws_;
    std::size_t drawn_ = 0;
};

RC_GTEST_PROP(remembered, finds_what_a_store_in_memory_finds, ()) {
    player p(*rc::gen::element<std::size_t>(1, 4, 16, 100));
    const auto steps = *rc::gen::inRange(1, 60);
    for (int n = 0; n < steps; ++n) p.step();
}

}  // namespace
}  // namespace callsign::testing
