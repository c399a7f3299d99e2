#include "support/history.hpp"

#include <algorithm>
#include <optional>

namespace callsign::testing {
namespace {

std::string task_text(std::int64_t number) {
    return "task " + std::to_string(number);
}

// An operation on the description of one task.
struct step {
    bool is_write = false;
    std::string value{};
    tick sent = 0;
    tick returned = no_response;

    bool is_definite() const { return returned != no_response; }
};

// Wing and Gong's search for an order of the steps.
class search {
  public:
    search(std::vector<step> steps, std::string first)
        : steps_(std::move(steps)), value_(std::move(first)), done_(steps_.size(), false) {}

    bool finds_order() {
        const bool is_over = std::ranges::all_of(
            steps_, [&](const step& s) { return done_[index_of(s)] || !s.is_definite(); });
        if (is_over) return true;
        if (!seen_.insert({done_, value_}).second) return false;
        // A step may be next if no other one ended before it was sent.
        tick first_end = no_response;
        for (const step& s : steps_) {
            if (!done_[index_of(s)]) first_end = std::min(first_end, s.returned);
        }
        for (const step& s : steps_) {
            const std::size_t i = index_of(s);
            if (done_[i] || s.sent > first_end) continue;
            if (!s.is_write && s.value != value_) continue;
            const std::string before = value_;
            done_[i] = true;
            if (s.is_write) value_ = s.value;
            if (finds_order()) return true;
            done_[i] = false;
            value_ = before;
        }
        return false;
    }

  private:
    std::size_t index_of(const step& s) const {
        return static_cast<std::size_t>(&s - steps_.data());
    }

    std::vector<step> steps_;
    std::string value_;
    std::vector<bool> done_;
    std::set<std::pair<std::vector<bool>, std::string>> seen_;
};

}  // namespace

void history::add(creation_seen c) {
    const std::scoped_lock lock(mutex_);
    creations_.push_back(std::move(c));
}

void history::add(write_seen w) {
    const std::scoped_lock lock(mutex_);
    writes_.push_back(std::move(w));
}

void history::add(read_seen r) {
    const std::scoped_lock lock(mutex_);
    reads_.push_back(std::move(r));
}

void history::found(std::int64_t number, std::string uuid, std::string value) {
    const std::scoped_lock lock(mutex_);
    found_.push_back({number, std::move(uuid), std::move(value)});
}

std::vector<std::string> history::violations() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> wrong;
    judge_receipts(wrong);
    judge_numbers(wrong);
    judge_order(wrong);
    judge_descriptions(wrong);
    return wrong;
}

// Each response to a key is the same, and two keys have two tasks.
void history::judge_receipts(std::vector<std::string>& wrong) const {
    std::map<std::string, std::string> receipts;
    std::map<std::int64_t, std::string> keys;
    for (const creation_seen& c : creations_) {
        if (c.receipt.empty()) continue;
        const auto& first = receipts.try_emplace(c.key, c.receipt).first->second;
        if (first != c.receipt) wrong.push_back("key " + c.key + " has two receipts");
        const auto& key = keys.try_emplace(c.number, c.key).first->second;
        if (key != c.key) {
            wrong.push_back("number " + std::to_string(c.number) + " has two keys: " + key +
                            " and " + c.key);
        }
    }
}

// The numbers at the end are 1..n, and each acknowledged task is there with its UUID.
void history::judge_numbers(std::vector<std::string>& wrong) const {
    std::map<std::int64_t, std::string> uuids;
    for (const found_task& f : found_) {
        if (!uuids.emplace(f.number, f.uuid).second) {
            wrong.push_back("number " + std::to_string(f.number) + " has two tasks");
        }
    }
    std::int64_t expected = 0;
    for (const auto& [number, uuid] : uuids) {
        if (number == ++expected) continue;
        wrong.push_back("number " + std::to_string(expected) + " is missing");
        expected = number;
    }
    for (const creation_seen& c : creations_) {
        if (c.receipt.empty()) continue;
        const auto at = uuids.find(c.number);
        if (at == uuids.end()) {
            wrong.push_back(task_text(c.number) + " was acknowledged and is lost");
        } else if (at->second != c.uuid) {
            wrong.push_back(task_text(c.number) + " has another UUID");
        }
    }
}

// A creation that was sent after another one's response has a larger number.
void history::judge_order(std::vector<std::string>& wrong) const {
    std::map<std::string, const creation_seen*> first_by_key;
    std::vector<const creation_seen*> by_end, by_start;
    for (const creation_seen& c : creations_) {
        if (c.receipt.empty()) continue;
        by_end.push_back(&c);
        // A retry may have been sent long after the task was created.
        const auto& first = first_by_key.try_emplace(c.key, &c).first->second;
        if (first == &c) by_start.push_back(&c);
    }
    // The earliest request with a key, with or without a response.
    std::map<std::string, tick> sent;
    for (const creation_seen& c : creations_) {
        const auto [at, is_new] = sent.emplace(c.key, c.sent);
        if (!is_new) at->second = std::min(at->second, c.sent);
    }
    std::ranges::sort(by_end, {}, &creation_seen::returned);
    std::ranges::sort(by_start, {}, [&](const creation_seen* c) { return sent.at(c->key); });
    std::int64_t highest = 0;
    auto ended = by_end.begin();
    for (const creation_seen* c : by_start) {
        for (; ended != by_end.end() && (*ended)->returned < sent.at(c->key); ++ended) {
            highest = std::max(highest, (*ended)->number);
        }
        if (c->number < highest) {
            wrong.push_back("number " + std::to_string(c->number) + " was assigned after " +
                            std::to_string(highest));
        }
    }
}

void history::judge_descriptions(std::vector<std::string>& wrong) const {
    std::map<std::int64_t, std::vector<step>> by_task;
    for (const write_seen& w : writes_) {
        by_task[w.number].push_back({true, w.value, w.sent, w.returned});
    }
    for (const read_seen& r : reads_) {
        by_task[r.number].push_back({false, r.value, r.sent, r.returned});
    }
    // The list at the end is a read after all others.
    for (const found_task& f : found_) {
        by_task[f.number].push_back({false, f.value, no_response - 2, no_response - 1});
    }
    for (auto& [number, steps] : by_task) {
        std::ranges::sort(steps, {}, &step::sent);
        // The description at the creation is the value that no write has.
        std::set<std::string> written;
        for (const step& s : steps) {
            if (s.is_write) written.insert(s.value);
        }
        std::optional<std::string> first;
        for (const step& s : steps) {
            if (s.is_write || written.contains(s.value)) continue;
            if (s.value.empty()) {
                wrong.push_back(task_text(number) + " was acknowledged and is not found");
            } else if (first && *first != s.value) {
                wrong.push_back(task_text(number) +
                                " has a description that no client wrote: " + s.value);
            }
            first = s.value;
        }
        if (!search(std::move(steps), first.value_or("")).finds_order()) {
            wrong.push_back("no order explains the descriptions of " + task_text(number));
        }
    }
}

}  // namespace callsign::testing
