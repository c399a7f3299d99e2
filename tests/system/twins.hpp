#pragma once
// Twins: pairs of connections that send identical creations, so that each key is always contested,
// and retry until the outcome is known. A ledger records the first acknowledged receipt; every
// later response is compared with it, during the run and after it.

#include "fixture.hpp"
#include "support/retrying_client.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace callsign::testing {

inline std::function<bool()> give_up_after(milliseconds span) {
    return [until = std::chrono::steady_clock::now() + span] {
        return std::chrono::steady_clock::now() > until;
    };
}

struct creation {
    std::string key;
    std::string body;
};

// The acknowledged receipts, by key. Thread-safe.
class ledger {
  public:
    // Records the definite response to a creation, if any; later receipts must equal the first.
    void acknowledge(const creation& c, const std::optional<http_answer>& answer) {
        const std::lock_guard lock(mutex_);
        ++acknowledged_;
        acknowledged_.notify_all();
        if (!answer) return note("key " + c.key + ": no definite answer");
        if (answer->status != 201)
            return note("key " + c.key + ": " + std::to_string(answer->status) + " " +
                        answer->body);
        const auto [entry, is_first] = entries_.try_emplace(c.key, c, answer->body);
        if (!is_first && entry->second.second != answer->body)
            note("key " + c.key + ": was " + entry->second.second + ", now " + answer->body);
    }

    std::uint64_t acknowledged() const { return acknowledged_; }
    // Returns once there are so many responses.
    void await(std::uint64_t answers) const {
        for (auto n = acknowledged_.load(); n < answers; n = acknowledged_.load())
            acknowledged_.wait(n);
    }

    // Requires: the run has ended.
    const std::map<std::string, std::pair<creation, std::string>>& entries() const {
        return entries_;
    }
    std::string faults() const {
        std::string all;
        for (const std::string& f : faults_) all += f + "\n";
        return all;
    }

  private:
    void note(std::string fault) {
        if (faults_.size() < 10) faults_.push_back(std::move(fault));
    }

    mutable std::mutex mutex_;
    std::atomic<std::uint64_t> acknowledged_{0};
    std::map<std::string, std::pair<creation, std::string>> entries_;
    std::vector<std::string> faults_;
};

inline const std::vector<std::string> prefixes{"SYN", "INC"};

// The n-th creation of a pair, generated identically by both twins.
inline creation make_creation(std::mt19937_64& random, std::uint64_t n) {
    const json::object body{{"description", "Creation " + std::to_string(n)},
                            {"prefix", prefixes[random() % prefixes.size()]}};
    return {random_key(random), json::serialize(body)};
}

struct twins_crew {
    std::uint16_t port;
    std::string token;
    ledger book;
    std::atomic<bool> done{false};  // ends the twins after their current creation

    void work(std::uint64_t pair_seed, std::uint64_t own_seed) {
        std::mt19937_64 shared(pair_seed);
        std::mt19937_64 own(own_seed);
        retrying_client client(port, token, own_seed);
        const auto too_late = give_up_after(20min);
        std::vector<creation> earlier;
        for (std::uint64_t n = 0; !done; ++n) {
            earlier.push_back(make_creation(shared, n));
            // Some iterations repeat an old creation, as a client that lost its state would.
            const bool look_back = own() % 5 == 0;
            for (const creation& c : {earlier.back(), earlier[own() % earlier.size()]}) {
                const auto answer = client.create(c.key, c.body, too_late);
                book.acknowledge(c, answer);
                if (!answer || !look_back) break;
            }
        }
    }
};

// ---- after the run ----

inline void audit_numbers(const ledger& book) {
    std::map<std::string, std::set<std::int64_t>> numbers;
    std::set<std::string> uuids;
    std::set<std::int64_t> seqs;
    for (const auto& [key, entry] : book.entries()) {
        const json::object receipt = json::parse(entry.second).as_object();
        const std::string prefix(receipt.at("prefix").as_string());
        const auto number = receipt.at("number").to_number<std::int64_t>();
        EXPECT_TRUE(numbers[prefix].insert(number).second) << "assigned twice: " << entry.second;
        EXPECT_TRUE(uuids.insert(std::string(receipt.at("uuid").as_string())).second);
        EXPECT_TRUE(seqs.insert(receipt.at("seq").to_number<std::int64_t>()).second);
        EXPECT_EQ(receipt.at("key").as_string(), prefix + "-" + std::to_string(number));
    }
    // All clients have their responses, so there are no other tasks.
    for (const auto& [prefix, taken] : numbers) {
        EXPECT_EQ(*taken.begin(), 1) << prefix;
        EXPECT_EQ(*taken.rbegin(), static_cast<std::int64_t>(taken.size())) << prefix;
    }
}

inline void audit_replays(const server& s, const std::string& token, const ledger& book) {
    http_client client(s.port(), token);
    for (const auto& [key, entry] : book.entries()) {
        const auto answer = client.post_json("/v1/tasks", entry.first.body, key);
        ASSERT_TRUE(answer.has_value());
        EXPECT_EQ(answer->status, 201u);
        EXPECT_TRUE(answer->replayed());
        EXPECT_EQ(answer->body, entry.second);
    }
}

}  // namespace callsign::testing
