#pragma once
// Commands and queries on the in-memory store, with known ids and time. At the end of each test the
// auditor verifies the store.

#include "support/audit.hpp"
#include "support/carry_out.hpp"
#include "support/collect.hpp"
#include "support/counted_ids.hpp"
#include "support/go_on.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/memory.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace callsign {

using operations = std::vector<operation>;

inline constexpr time_point t0{milliseconds{1'700'000'000'000}};

inline uuid uuid_of(int n) {
    return make_uuid_v7(t0, 1, static_cast<std::uint64_t>(n));
}
// Versions of a remote chain.
inline const uuid v1 = uuid_of(701), v2 = uuid_of(702), v3 = uuid_of(703);
inline operation create(const uuid& id) {
    return {operation_kind::create, id, {}, {}, {}};
}
inline operation remove(const uuid& id) {
    return {operation_kind::remove, id, {}, {}, {}};
}
inline operation update(const uuid& id, std::string name, std::optional<std::string> value,
                        precise_time at = t0) {
    return {operation_kind::update, id, std::move(name), std::move(value), at};
}

class rules_test : public ::testing::Test {
  protected:
    ~rules_test() override { EXPECT_EQ(testing::audit(*store_), std::vector<std::string>{}); }

    template <class Action>
    void write(Action action) {
        const auto tx = store_->begin_write();
        action(*tx);
        tx->commit();
    }
    template <class Command>
    typename Command::answer run(const Command& c) {
        const auto tx = store_->begin_write();
        now_ += milliseconds{1};
        const rules::moment m{.now = now_,
                              .ids = ids_,
                              .key_attribute = key_attribute_,
                              .stored_bytes_max = stored_bytes_max_,
                              .tokens_max = tokens_max_,
                              .former_prefixes_max = former_prefixes_max_,
                              .synced_task_bytes_max = synced_task_bytes_max_,
                              .events = &told_};
        auto answer = rules::apply(*tx, c, m);
        tx->commit();
        return answer;
    }
    template <class Query>
    typename Query::answer ask(const Query& q) {
        return rules::read(*store_->begin_read(), q);
    }

    // An opaque account with a client id, or a managed one without.
    account_id make(const std::string& name, std::optional<uuid> client = {}) {
        return std::get<account>(run(create_account{name, "SYN", "t", sha256(name), client})).id;
    }
    void import(account_id to, int from, int count) {
        import_tasks c{to, {}};
        for (int n = from; n < from + count; ++n) c.tasks.push_back({uuid_of(n), {{"p", "v"}}});
        ASSERT_TRUE(std::holds_alternative<import_tasks::done>(run(c)));
    }
    template <class Event>
    bool was_told() const {
        return std::any_of(told_.begin(), told_.end(),
                           [](const event& e) { return std::holds_alternative<Event>(e); });
    }

    std::unique_ptr<strict_memory_store> store_ = make_memory_store();
    testing::counted_ids ids_;
    time_point now_ = t0;
    std::string key_attribute_ = "key";
    std::size_t stored_bytes_max_ = 0;
    std::size_t tokens_max_ = 0;
    std::size_t former_prefixes_max_ = 0;
    std::size_t synced_task_bytes_max_ = task_bytes_max;
    std::vector<event> told_;
};

// A managed account with two devices.
class managed_account : public rules_test {
  protected:
    managed_account() {
        account_ = make("board");
        write([&](write_tx& tx) {
            devices::put(
                tx,
                {.client_id = laptop, .account = account_, .name = "laptop", .sealed_key = "key"});
            devices::put(
                tx,
                {.client_id = phone, .account = account_, .name = "phone", .sealed_key = "key"});
        });
    }

    add_version::answer send(const uuid& client, const uuid& parent, operations all,
                             std::size_t read_max = add_version::read_bytes_max) {
        add_version c{client, parent, std::move(all), account_, 0};
        c.read_max = read_max;
        return take(c);
    }
    // Runs one command with the missed versions that it needs, as the handler does.
    add_version::answer take(add_version& c) {
        for (;;) {
            auto answer = run(c);
            if (!std::holds_alternative<add_version::needs_missed>(answer)) return answer;
            const auto ask_store = [this](const find_missed& q) { return ask(q); };
            if (!testing::read_missed(c, c.read_max + 1, ask_store)) {
                return add_version::too_far_behind{};
            }
        }
    }
    // Pushes all operations at the head of the chain, as the handler does.
    add_version::added send(operations all) {
        add_version c{laptop, head().version, std::move(all), account_, 0};
        add_version::added sum;
        do {
            const auto added = std::get<add_version::added>(run(c));
            testing::go_on(c, added);
            sum.version = added.version;
            sum.stale = sum.stale || added.stale;
            sum.numbered += added.numbered;
        } while (!c.operations.empty());
        return sum;
    }

    // A pending slot.
    slot_id reserved(std::string key, std::optional<uuid> task = {}) {
        const auto answer = run(reserve{account_, std::move(key), {}, task, ""});
        return std::get<reserve::reserved>(answer).slot;
    }

    // The id of the fork version behind a position of a device.
    static uuid fork_of(uuid name) {
        std::fill(name.begin() + 11, name.end(), std::uint8_t{0});
        return name;
    }
    chain_head head() { return accounts::head_of(*store_->begin_read(), account_); }
    std::optional<task> find(const uuid& id) {
        return tasks::find(*store_->begin_read(), account_, id);
    }
    std::string attribute(const uuid& id, std::string_view name) {
        const auto found = find(id);
        if (!found || found->purged) return "(no task)";
        const auto value = found->attributes.find(name);
        return value == found->attributes.end() ? "(none)" : value->second;
    }
    std::vector<version> chain() {
        return versions::some(*store_->begin_read(), account_, 0, 1'000'000);
    }
    find_child::answer child_of(const uuid& parent) { return ask(find_child{account_, parent}); }
    task_map tasks() { return testing::collect(*store_->begin_read(), account_, 100'000).tasks(); }

    // Applies the versions after `from` to `own`, as a device does.
    void follow(const uuid& from, task_map& own) {
        for (auto next = child_of(from);
             const auto* const version = std::get_if<find_child::next_version>(&next);
             next = child_of(version->id)) {
            for (const auto& o : version->operations) EXPECT_TRUE(carry_out(own, o));
        }
    }

    const uuid laptop = uuid_of(901);
    const uuid phone = uuid_of(902);
    account_id account_;
};

}  // namespace callsign
