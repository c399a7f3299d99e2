#pragma once
// Serves accounts in turn: deficit round robin (Shreedhar and Varghese 1995). In its turn an
// account gets a quantum of credit and is served while its credit lasts; an item that is too heavy
// for it waits, and the credit is kept for the next round. So of two accounts that always have
// items waiting, none gets ahead of the other by more than a quantum and one item, whatever they
// send; and a new account waits for one round, however long the others' lanes are. Within an
// account it is first come, first served. The system's own work comes before all accounts'.
//
// The actual cost of an item is known once it is served. An account that has exceeded the weight of
// its items owes the difference, for as long as it has items waiting beside others', and pays it
// back out of its turns.
//
// A pure data structure: no lock, no clock, no allocation for an item. An item is a T with `who`, a
// payer; `weight`, in bytes (claim.hpp); and `behind`, a T* for the queue's use while it holds the
// item.

#include <callsign/base/assert.hpp>
#include <callsign/domain/claim.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace callsign {

// The weight of a dozen of the lightest commands: most turns serve all that a client has waiting,
// few need a second round. And small beside a batch's limits: a batch holds the turns of 64
// accounts, so one that comes to 64 busy ones is in the next batch.
inline constexpr std::size_t quantum_bytes = std::size_t{64} * 1024;

template <class T>
class fair_queue {
  public:
    explicit fair_queue(std::size_t quantum = quantum_bytes) : quantum_(quantum) {}

    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

    void push(T& item) {
        item.behind = nullptr;
        ++size_;
        lane& l = item.who.is_system() ? house_ : lane_of(item.who);
        (l.first ? l.last->behind : l.first) = &item;
        l.last = &item;
    }

    // Returns items that were taken and not served, in the order they were taken, to the front of
    // their accounts' lanes.
    void put_back(std::span<T* const> items) {
        for (auto last = items.rbegin(); last != items.rend(); ++last) {
            T* const item = *last;
            ++size_;
            lane& l = item->who.is_system() ? house_ : lane_of(item->who);
            item->behind = l.first;
            if (!l.first) l.last = item;
            l.first = item;
        }
    }

    // Charges an account for costs beyond the weight of what was served.
    void charge(payer who, std::size_t more) {
        const auto found = lanes_.find(who);
        if (found == lanes_.end()) return;
        std::int64_t& credit = found->second.credit;
        const auto owed = static_cast<std::int64_t>(std::min(more, owed_max));
        credit = std::max(credit - owed, -static_cast<std::int64_t>(owed_max));
    }

    // Returns what take() would take; null: nothing waits, or nothing of a payer that `may`
    // accepts.
    template <class May>
    T* next(const May& may) {
        if (house_.first) return house_.first;
        for (std::size_t passed_over = 0; passed_over < lanes_.size();) {
            lane& l = *last_->next;
            if (!may(l.first->who)) {
                ++passed_over;
                go_on();
                continue;
            }
            // A single account needs no fairness, and its debt is dropped.
            if (lanes_.size() == 1) {
                l.credit = std::max<std::int64_t>(l.credit, 0);
                return l.first;
            }
            if (can_pay(l)) return l.first;
            passed_over = 0;
            go_on();
        }
        return nullptr;
    }
    T* next() {
        return next([](payer) { return true; });
    }

    // Requires: next() has just returned the item.
    T& take() {
        CALLSIGN_ASSERT(!empty());
        --size_;
        if (house_.first) return pop(house_);
        lane& l = *last_->next;
        T& item = pop(l);
        // A single account may be served beyond its credit.
        l.credit -= std::min(l.credit, static_cast<std::int64_t>(item.weight));
        if (!l.first) remove_lane(item.who);
        return item;
    }

  private:
    // Of one account that has items waiting. The lanes form a ring.
    struct lane {
        T* first = nullptr;
        T* last = nullptr;
        std::int64_t credit = 0;  // negative: debt
        lane* next = nullptr;
    };
    using lanes = std::unordered_map<payer, lane>;

    lane& lane_of(payer who) {
        const auto found = lanes_.find(who);
        if (found != lanes_.end()) return found->second;
        lane& added = add_lane(who);
        if (!last_) {
            added.next = &added;
            has_come_ = false;
        } else {
            added.next = std::exchange(last_->next, &added);
        }
        last_ = &added;
        return added;
    }

    // An account with one request at a time adds and removes its lane with each of them, so the
    // memory of lanes is reused.
    lane& add_lane(payer who) {
        if (spare_.empty()) return lanes_[who];
        auto node = std::move(spare_.back());
        spare_.pop_back();
        node.key() = who;
        node.mapped() = {};
        return lanes_.insert(std::move(node)).position->second;
    }

    // Removes the lane whose turn it is; the rest of its credit is lost.
    void remove_lane(payer who) {
        lane* const gone = last_->next;
        if (last_ == gone) {
            last_ = nullptr;
        } else {
            last_->next = gone->next;
        }
        has_come_ = false;
        auto node = lanes_.extract(who);
        if (spare_.size() < spare_max) spare_.push_back(std::move(node));
    }

    static constexpr std::size_t spare_max = 256;
    // The weight of the heaviest items: next() makes no more rounds for a debt than for those.
    static constexpr std::size_t owed_max = std::size_t{64} << 20;

    static T& pop(lane& l) {
        T& item = *l.first;
        l.first = item.behind;
        return item;
    }

    // Adds the credit of a turn, once. Before that the credit is less than the first item needs,
    // unless the account was passed over: that must not accumulate credit.
    bool can_pay(lane& l) {
        const auto weight = static_cast<std::int64_t>(l.first->weight);
        if (!has_come_) {
            l.credit = std::min(l.credit, weight) + static_cast<std::int64_t>(quantum_);
            has_come_ = true;
        }
        return weight <= l.credit;
    }

    void go_on() {
        last_ = last_->next;
        has_come_ = false;
    }

    std::size_t quantum_;
    std::size_t size_ = 0;
    lane house_;
    lanes lanes_;
    std::vector<typename lanes::node_type> spare_;
    lane* last_ = nullptr;   // of the ring; the one after it has its turn
    bool has_come_ = false;  // its turn has begun, and its credit was added
};

}  // namespace callsign
