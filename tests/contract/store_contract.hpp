#pragma once
// Fixture of the store contract tests, which run on each store.

#include "support/temp_dir.hpp"

#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>
#include <callsign/ports/store.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace callsign::testing {

struct backend {
    const char* name;
    bool durable;  // committed data survives a reopening
    std::unique_ptr<store> (*open)(const temp_dir&);
};

inline constexpr time_point t0{milliseconds{1'700'000'000'000}};

inline uuid uuid_of(int n) {
    return make_uuid_v7(t0, 0, static_cast<std::uint64_t>(n));
}

class store_contract : public ::testing::TestWithParam<backend> {
  protected:
    store_contract() { reopen(); }

    void reopen() {
        store_.reset();
        store_ = GetParam().open(dir_);
    }

    void maintain() {
        if (auto* const its = store_->embedded()) its->maintain(true);
    }
    template <class Action>
    auto write(Action action) {
        const auto tx = store_->begin_write();
        if constexpr (std::is_void_v<decltype(action(*tx))>) {
            action(*tx);
            tx->commit();
            maintain();
        } else {
            auto done = action(*tx);
            tx->commit();
            maintain();
            return done;
        }
    }

    account_id make_account(std::string name = "home", std::string prefix = "TASK") {
        return write([&](write_tx& tx) {
            const auto id = accounts::put(tx, name, t0);
            all_series::put(tx, id, prefix, "", true, t0);
            return id;
        });
    }

    static slot new_slot(account_id account, std::string key, int n) {
        slot s;
        s.account = account;
        s.key = std::move(key);
        s.fingerprint = sha256("content " + std::to_string(n));
        s.uuid = uuid_of(n);
        s.created_at = t0 + milliseconds{n};
        return s;
    }

    // Creates a task as the rules do.
    static task_id make_task(write_tx& tx, account_id account, int n) {
        const auto series = all_series::default_of(tx, account);
        task t;
        t.account = account;
        t.uuid = uuid_of(n);
        t.created_at = t0 + milliseconds{n};
        t.attributes = {{"description", "task " + std::to_string(n)}, {"tag_x", ""}};
        const operation made{operation_kind::create, t.uuid, {}, {}, {}};
        receipt r{t.uuid, series->prefix, "",  numbers::take(tx, series->id, ""),
                  0,      t.created_at,   true};
        r.seq = versions::append(tx, account, uuid_of(1000 + n), t.created_at, {made});
        t.numbered = r;
        t.last_seq = r.seq;
        return tasks::put(tx, t, series->id);
    }

    // Writes the new state of the n-th task by a version with this seq.
    static void change(write_tx& tx, account_id account, int n, const attributes& now, bool purged,
                       std::int64_t seq, time_point at = t0) {
        tasks::update(tx, *tasks::find(tx, account, uuid_of(n)), now, purged, seq, at);
    }

    temp_dir dir_;
    std::unique_ptr<store> store_;
};

// ---- sealed chains ----

inline const uuid client_a = uuid_of(901);
inline const uuid client_b = uuid_of(902);

inline account_id put_opaque(write_tx& tx, const std::string& name, const uuid& client) {
    const auto id = accounts::put(tx, name, t0, account_mode::opaque);
    all_series::put(tx, id, "TASK", "", true, t0);
    devices::put(tx, {.client_id = client, .account = id, .created_at = t0});
    return id;
}

}  // namespace callsign::testing
