// Goal: a restore loses nothing that a device still has. The device's tasks return with their keys;
// changes that only one device made persist; of concurrent changes the losing one is kept in an
// annotation; no number is assigned twice; and all replicas converge.
//
// Method: stock clients and REST edit tasks on the real rules. At some moment the store is copied;
// later it is lost, and the copy replaces it. The clients continue as usual, and complete the task
// that asks their users to resync. Commands fail before and after their commit.

#include "property/managed_account.hpp"
#include "support/audit.hpp"
#include "support/collect.hpp"
#include "support/forwarding_store.hpp"
#include "support/go_on.hpp"
#include "support/setting.hpp"

#include <callsign/base/text.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/store/memory.hpp>

#include <gtest/gtest.h>
#include <random>

namespace callsign::testing {
namespace {

using kind = operation_kind;

// The connection of a device to a server that may have been restored from a backup.
class returning_link final : public model_server {
  public:
    returning_link(managed_account& account, uuid client, std::mt19937_64& chance)
        : account_(account), client_(client), chance_(chance) {}

    std::optional<child> child_of(const uuid& parent) override {
        const device self = *devices::find(*account_.data().begin_read(), client_);
        auto found = rules::read(*account_.data().begin_read(),
                                 find_child{account_.id(), parent, self.resync});
        if (std::holds_alternative<unknown_version>(found)) throw rejected{};
        if (std::holds_alternative<find_child::awaits_snapshot>(found)) throw rejected{};
        if (std::holds_alternative<find_child::awaits_change>(found)) return std::nullopt;
        if (auto* const note = std::get_if<find_child::ahead>(&found)) {
            ++times_ahead;
            return child{note->id, std::move(note->operations)};
        }
        if (self.resync && self.resync->now == resync::state::expected) {
            run(end_resync{client_, account_.id()});
        }
        auto* const next = std::get_if<find_child::next_version>(&found);
        if (!next) return std::nullopt;
        return child{next->id, std::move(next->operations)};
    }

    std::variant<accepted, expected> add_version(const uuid& parent,
                                                 std::vector<operation> all) override {
        callsign::add_version c{client_, parent, std::move(all), account_.id(), 0};
        for (;;) {
            const auto answer = run(c);
            const auto* const added = std::get_if<callsign::add_version::added>(&answer);
            if (!added) throw rejected{};
            go_on(c, *added);
            if (c.operations.empty()) return accepted{added->version, added->wants_snapshot};
        }
    }

    void add_snapshot(const uuid& version, const task_map& tasks) override {
        merge(version, tasks);
        recreate_tasks again{client_, version, {}, account_.id()};
        const task_map here =
            collect(*account_.data().begin_read(), account_.id(), std::size_t{1} << 20).tasks();
        for (const auto& [id, all] : here) {
            if (!tasks.contains(id)) again.tasks.push_back(id);
        }
        run(again);
        run(end_resync{client_, account_.id(), true});
    }

    int times_ahead = 0;
    bool may_die = true;

  private:
    void merge(const uuid& version, const task_map& tasks) {
        merge_snapshot c{.client_id = client_, .version = version, .account = account_.id()};
        for (const auto& [id, all] : tasks) c.tasks.push_back({id, all});
        c.work_max = 1 + chance_() % 5'000;
        while (!c.tasks.empty()) {
            const auto answer = run(c);
            const auto& done = std::get<merge_snapshot::done>(answer);
            EXPECT_GT(done.taken, 0u);
            c.tasks.erase(c.tasks.begin(), c.tasks.begin() + std::ptrdiff_t(done.taken));
        }
    }

    template <class Command>
    typename Command::answer run(const Command& c) {
        using crash = managed_account::crash;
        auto answer = account_.run(c);
        if (!answer) throw rejected{};
        if (may_die && chance_() % 40 == 0) {
            account_.arm(chance_() % 2 == 0 ? crash::before_commit : crash::after_commit);
        }
        return *std::move(answer);
    }

    managed_account& account_;
    uuid client_;
    std::mt19937_64& chance_;
};

class restored_world {
  public:
    explicit restored_world(unsigned seed)
        : chance_(seed), account_([this] { return std::make_unique<forwarding_store>(*disk_); }) {
        const int devices = 1 + static_cast<int>(chance_() % 3);
        for (int n = 0; n < devices; ++n) {
            links_.push_back(
                std::make_unique<returning_link>(account_, account_.add_device(n), chance_));
            clients_.push_back(std::make_unique<model_client>(*links_.back()));
        }
    }

    void play() {
        const auto some = [&](unsigned max) { return static_cast<int>(chance_() % max); };
        for (int n = some(30); n >= 0; --n) move(true);
        auto backup = disk_->copy();
        const int lost = some(30);
        for (int n = 0; n < lost; ++n) move(false);
        account_.arm(managed_account::crash::none);
        remember();
        disk_ = std::move(backup);
        account_.put_back(std::make_unique<forwarding_store>(*disk_));
        for (int n = some(30); n > 0; --n) move(true);
        settle();
        const auto held =
            all_series::default_of(*account_.data().begin_read(), account_.id())->held;
        if (held) account_.run(resume_series{account_ref{account_.id()}, "SYN"});
        settle();
    }

    std::vector<std::string> faults() {
        std::vector<std::string> found = audit(account_.data());
        const auto tx = account_.data().begin_read();
        const task_map tasks = collect(*tx, account_.id(), std::size_t{1} << 20).tasks();
        for (std::size_t n = 0; n < clients_.size(); ++n) {
            if (clients_[n]->tasks() == tasks) continue;
            found.push_back("device " + std::to_string(n) +
                            " differs from the server: " + difference(clients_[n]->tasks(), tasks));
        }
        for (const auto& [id, all] : tasks) {
            if (value_of(all, "key").empty()) found.push_back("a task has no key");
        }
        for (const auto& [id, key] : keys_) {
            if (purged_.contains(id)) continue;
            const auto at = tasks.find(id);
            if (at == tasks.end()) {
                found.push_back("the task with key " + key + " is missing");
            } else if (value_of(at->second, "key") != key) {
                found.push_back(key + " is " + std::string(value_of(at->second, "key")));
            }
        }
        for (const auto& [place, value] : written_) {
            if (purged_.contains(place.first)) continue;
            const auto at = tasks.find(place.first);
            if (at == tasks.end()) {
                found.push_back("a task is missing");
            } else if (!says(at->second, place.second, value)) {
                found.push_back(place.second + ": " + value + " is missing");
            }
        }
        return found;
    }

    int times_ahead() const {
        int all = 0;
        for (const auto& link : links_) all += link->times_ahead;
        return all;
    }

  private:
    static std::string difference(const task_map& device, const task_map& server) {
        std::string all;
        for (const auto& [id, attributes] : device) {
            if (!server.contains(id)) all += "it has an additional " + to_string(id) + "; ";
        }
        for (const auto& [id, attributes] : server) {
            const auto found = device.find(id);
            if (found == device.end()) {
                all += "it lacks " + to_string(id) + "; ";
                continue;
            }
            for (const auto& [name, value] : attributes) {
                const auto its = value_of(found->second, name);
                if (its != value) all += name + ": " + std::string(its) + " and " + value + "; ";
            }
            for (const auto& [name, value] : found->second) {
                if (!attributes.contains(name)) all += name + ": " + value + "; ";
            }
        }
        return all;
    }
    static bool says(const attributes& all, const std::string& name, const std::string& value) {
        if (value_of(all, name) == value) return true;
        return std::any_of(all.begin(), all.end(), [&](const auto& each) {
            return each.first.starts_with("annotation_") &&
                   each.second.find(name + ": " + value) != std::string::npos;
        });
    }
    static bool is_note(const attributes& all) {
        return value_of(all, "description").find("backup") != std::string_view::npos;
    }
    std::string now_text() const {
        return std::to_string(account_.now().time_since_epoch().count() / 1000);
    }

    void move(bool may_purge) {
        account_.pass(milliseconds{1 + chance_() % 5'000});
        const std::size_t who = chance_() % (clients_.size() + 1);
        if (who == clients_.size()) return edit_by_rest();
        if (chance_() % 3 == 0) {
            clients_[who]->sync();
        } else {
            edit(who, may_purge);
        }
    }

    std::optional<uuid> pick(const task_map& from) {
        if (from.empty()) return std::nullopt;
        auto at = std::next(from.begin(), static_cast<std::ptrdiff_t>(chance_() % from.size()));
        if (is_note(at->second)) return std::nullopt;
        return at->first;
    }

    void edit(std::size_t who, bool may_purge) {
        model_client& client = *clients_[who];
        const auto set = [&](const uuid& id, const std::string& name,
                             std::optional<std::string> value) {
            client.edit({kind::update, id, name, std::move(value), account_.now()});
        };
        auto id = chance_() % 3 == 0 ? std::nullopt : pick(client.tasks());
        if (!id) {
            id = task_uuid(next_task_++);
            client.edit({kind::create, *id, {}, {}, {}});
            set(*id, "description", "d");
            set(*id, "status", "pending");
        } else if (may_purge && chance_() % 12 == 0) {
            purged_.insert(*id);
            return client.edit({kind::remove, *id, {}, {}, {}});
        }
        set(*id, "modified", now_text());
        if (chance_() % 3 == 0) {
            const bool drops = chance_() % 3 == 0;
            set(*id, "p", drops ? std::nullopt : std::optional(std::to_string(chance_() % 4)));
        }
        const std::string own = "by_" + std::to_string(who);
        const std::string value = "v" + std::to_string(next_value_++) + ";";
        set(*id, own, value);
        written_[{*id, own}] = value;
    }

    void edit_by_rest() {
        const auto tx = account_.data().begin_read();
        const auto id = pick(collect(*tx, account_.id(), std::size_t{1} << 20).tasks());
        if (!id || chance_() % 3 == 0) {
            const auto begun = account_.run(
                reserve{account_.id(), "k" + std::to_string(next_value_++), {}, {}, ""});
            const auto* const slot = begun ? std::get_if<reserve::reserved>(&*begun) : nullptr;
            if (slot) account_.run(fulfil{slot->slot, "", {{"description", "by REST"}}});
            return;
        }
        edit_task c{account_.id(), *id};
        c.changes = {{"q", std::to_string(chance_() % 4)}, {"modified", now_text()}};
        account_.run(c);
    }

    // Records what devices have when the data is lost.
    void remember() {
        for (const auto& client : clients_) {
            for (const auto& [id, all] : client->tasks()) {
                const auto key = value_of(all, "key");
                if (!key.empty()) keys_[id] = key;
            }
        }
    }

    void settle() {
        account_.arm(managed_account::crash::none);
        for (const auto& link : links_) link->may_die = false;
        for (int round = 0; round < 4; ++round) {
            for (const auto& client : clients_) {
                account_.pass(milliseconds{1'000});
                client->sync();
                for (const auto& [id, all] : task_map(client->tasks())) {
                    if (!is_note(all)) continue;
                    client->edit({kind::update, id, "status", "completed", account_.now()});
                }
                client->sync();
            }
        }
    }

    std::mt19937_64 chance_;
    std::unique_ptr<strict_memory_store> disk_ = make_memory_store();
    managed_account account_;
    std::vector<std::unique_ptr<returning_link>> links_;
    std::vector<std::unique_ptr<model_client>> clients_;
    int next_task_ = 0, next_value_ = 0;
    std::set<uuid> purged_;
    std::map<uuid, std::string> keys_;
    // The last value that each device has written to tasks and properties of its own.
    std::map<std::pair<uuid, std::string>, std::string> written_;
};

TEST(restore, nothing_is_lost_that_a_device_has) {
    const std::uint64_t seeds = times(CALLSIGN_RESTORE_SEEDS);
    int ahead = 0;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        restored_world world(seed);
        world.play();
        ASSERT_EQ(world.faults(), std::vector<std::string>{}) << "seed " << seed;
        ahead += world.times_ahead();
    }
    EXPECT_GT(ahead, static_cast<int>(seeds) / 2) << "devices that were ahead of the backup";
}

}  // namespace
}  // namespace callsign::testing
