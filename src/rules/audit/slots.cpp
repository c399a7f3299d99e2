#include "audit/parts.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/slots.hpp>

#include <algorithm>
#include <boost/functional/hash.hpp>
#include <utility>

namespace callsign::rules::auditing {
namespace {

constexpr std::int64_t slots_at_once = 256;

class slot_audit {
  public:
    slot_audit(read_tx& tx, findings& found, tally& all) : tx_(tx), found_(found), all_(all) {}

    void run() {
        std::ranges::sort(all_.tasks);
        each_row(
            slots_at_once,
            [&](std::int64_t after, std::int64_t limit) {
                return slots::some(tx_, slot_id{after}, limit, std::nullopt, std::nullopt);
            },
            [](const slot& s) { return s.id.value; }, [&](const slot& s) { see(s); },
            [&](std::int64_t from, std::int64_t to, const std::string& why) {
                found_.unreadable(proofs::slot_state,
                                  "slots" + between(from, to) + " cannot be read: " + why);
            });
        look_for_makers();
        look_for_keys();
        try {
            count_creations();
        } catch (const store_failure& failure) {
            found_.unreadable(proofs::in_flight,
                              std::string("the outbox cannot be read: ") + failure.what());
        }
    }

  private:
    void see(const slot& s) {
        std::size_t key = 0;
        boost::hash_combine(key, s.account.value);
        boost::hash_combine(key, keyed_hash{}(s.key));
        keys_.emplace_back(key, s.id.value);
        look_at_state(s);
        if (s.state == slot_state::in_flight) look_at_flight(s);
        if (s.state != slot_state::committed || !s.task) return;
        if (s.created) made_.push_back(s.task->value);
        if (!has_its_task(s)) {
            found_.fault(proofs::slot_task, "slot " + std::to_string(s.id.value) + ": task " +
                                                std::to_string(s.task->value));
        }
    }

    void look_at_state(const slot& s) {
        const bool is_sound =
            (s.state == slot_state::committed) == s.task.has_value() &&
            is_open(s.state) == !s.settled_at &&
            (s.state == slot_state::failed) == (s.reason != failure_reason::none) &&
            s.expires == (!is_open(s.state) && (s.state == slot_state::failed || !s.created)) &&
            (!s.settled_at || *s.settled_at >= s.created_at);
        if (is_sound) return;
        found_.fault(proofs::slot_state,
                     "slot " + std::to_string(s.id.value) + ": " + std::string(to_string(s.state)) +
                         ", task " + (s.task ? std::to_string(s.task->value) : "none") +
                         ", reason " + std::to_string(static_cast<int>(s.reason)));
    }

    void look_at_flight(const slot& s) {
        ++in_flight_;
        std::optional<effect> creation;
        try {
            creation = effects::find(tx_, s.account, s.uuid, effect_kind::creation);
        } catch (const store_failure&) {
            return;  // reported as unreadable
        }
        if (creation && creation->slot == s.id) return;
        found_.fault(proofs::in_flight, "slot " + std::to_string(s.id.value) +
                                            " is in flight, and its creation is not in the outbox");
    }

    // Each creation in the outbox has a slot of its own, so their numbers are equal.
    void count_creations() {
        std::int64_t creations = 0;
        for (account_id after{};;) {
            const auto some = remotes::some(tx_, after, slots_at_once);
            for (const remote_chain& r : some)
                creations += effects::tally(tx_, r.account).creations;
            if (std::ssize(some) < slots_at_once) break;
            after = some.back().account;
        }
        if (creations == in_flight_) return;
        found_.fault(proofs::in_flight, std::to_string(creations) +
                                            " creations in the outbox, and " +
                                            std::to_string(in_flight_) + " slots in flight");
    }

    // A task without a mark may be unreadable instead of missing.
    bool has_its_task(const slot& s) {
        if (std::ranges::binary_search(all_.tasks, mark_of(*s.task, s.account, s.uuid)))
            return true;
        const looked_up there = look_up(tx_, s.account, s.uuid);
        return !there.readable || (there.row && there.row->id == *s.task);
    }

    void look_for_makers() {
        std::ranges::sort(made_);
        for (auto at = made_.begin(); at != made_.end();) {
            const auto end = std::upper_bound(at, made_.end(), *at);
            if (end - at > 1) {
                found_.fault(proofs::one_maker, "task " + std::to_string(*at) + ": created by " +
                                                    std::to_string(end - at) + " slots");
            }
            at = end;
        }
    }

    void look_for_keys() {
        std::ranges::sort(keys_);
        for (std::size_t i = 1; i < keys_.size(); ++i) {
            if (keys_[i].first == keys_[i - 1].first) compare(keys_[i - 1].second, keys_[i].second);
        }
    }

    // Compares slots whose keys have the same hash.
    void compare(std::int64_t one, std::int64_t other) {
        const auto a = read(one), b = read(other);
        if (!a || !b || a->account != b->account || a->key != b->key) return;
        found_.fault(proofs::one_slot, name_of(a->account) + "slots " + std::to_string(one) +
                                           " and " + std::to_string(other) + " have the same key");
    }

    // Returns none if the slot is unreadable, which is reported elsewhere.
    std::optional<slot> read(std::int64_t id) {
        try {
            return slots::find(tx_, slot_id{id});
        } catch (const store_failure&) {
            return std::nullopt;
        }
    }

    read_tx& tx_;
    findings& found_;
    tally& all_;
    std::vector<std::pair<std::size_t, std::int64_t>> keys_;  // hash of the key, slot ID
    std::vector<std::int64_t> made_;  // task IDs, one for each slot that created a task
    std::int64_t in_flight_ = 0;
};

}  // namespace

void look_at_slots(read_tx& tx, findings& found, tally& all) {
    slot_audit(tx, found, all).run();
}

}  // namespace callsign::rules::auditing
