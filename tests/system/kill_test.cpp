// Goal: what was acknowledged survives SIGKILL at any instant, and a key makes one task whatever
// its clients do. Method: pairs of twins (two connections that send the very same creations, so
// that each key is always contested) file tasks and retry until they know, while the server is
// killed at random and started again. A ledger holds what was acknowledged first; every later
// answer is held against it, during the run and after it. CALLSIGN_SYSTEM_ROUNDS sets how often it
// is killed, CALLSIGN_SYSTEM_SEED which keys and moments are drawn.

#include "fixture.hpp"
#include "support/retrying_client.hpp"
#include "support/setting.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace callsign::testing {
namespace {

std::function<bool()> give_up_after(milliseconds span) {
    return [until = std::chrono::steady_clock::now() + span] {
        return std::chrono::steady_clock::now() > until;
    };
}

struct creation {
    std::string key;
    std::string body;
};

// What was acknowledged, by key. Thread safe.
class ledger {
  public:
    // The definite answer to a creation, if there was one; the first receipt is the one to keep to.
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
    // Returns when so many answers are in.
    void await(std::uint64_t answers) const {
        for (auto n = acknowledged_.load(); n < answers; n = acknowledged_.load())
            acknowledged_.wait(n);
    }

    // After the run, when nobody adds any more.
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

const std::vector<std::string> prefixes{"SYN", "INC"};

// The n-th creation of a pair: the same for both twins, made anew by each.
creation make_creation(std::mt19937_64& random, std::uint64_t n) {
    const json::object body{{"description", "Creation " + std::to_string(n)},
                            {"prefix", prefixes[random() % prefixes.size()]}};
    return {random_key(random), json::serialize(body)};
}

struct twins_crew {
    std::uint16_t port;
    std::string token;
    ledger book;
    std::atomic<bool> done{false};  // finish what you have begun, and go home

    void work(std::uint64_t pair_seed, std::uint64_t own_seed) {
        std::mt19937_64 shared(pair_seed);
        std::mt19937_64 own(own_seed);
        retrying_client client(port, token, own_seed);
        const auto too_late = give_up_after(20min);
        std::vector<creation> earlier;
        for (std::uint64_t n = 0; !done; ++n) {
            earlier.push_back(make_creation(shared, n));
            // Now and then something old again, as a client does that forgot what it knew.
            const bool look_back = own() % 5 == 0;
            for (const creation& c : {earlier.back(), earlier[own() % earlier.size()]}) {
                const auto answer = client.create(c.key, c.body, too_late);
                book.acknowledge(c, answer);
                if (!answer || !look_back) break;
            }
        }
    }
};

class kill_test : public system_test {
  protected:
    static void audit_numbers(const ledger& book) {
        std::map<std::string, std::set<std::int64_t>> numbers;
        std::set<std::string> uuids;
        std::set<std::int64_t> seqs;
        for (const auto& [key, entry] : book.entries()) {
            const json::object receipt = json::parse(entry.second).as_object();
            const std::string prefix(receipt.at("prefix").as_string());
            const auto number = receipt.at("number").to_number<std::int64_t>();
            EXPECT_TRUE(numbers[prefix].insert(number).second) << "given twice: " << entry.second;
            EXPECT_TRUE(uuids.insert(std::string(receipt.at("uuid").as_string())).second);
            EXPECT_TRUE(seqs.insert(receipt.at("seq").to_number<std::int64_t>()).second);
            EXPECT_EQ(receipt.at("key").as_string(), prefix + "-" + std::to_string(number));
        }
        // All who asked have their answer, so what is acknowledged is all there is.
        for (const auto& [prefix, taken] : numbers) {
            EXPECT_EQ(*taken.begin(), 1) << prefix;
            EXPECT_EQ(*taken.rbegin(), static_cast<std::int64_t>(taken.size())) << prefix;
        }
    }

    static void audit_replays(const server& s, const std::string& token, const ledger& book) {
        http_client client(s.port(), token);
        for (const auto& [key, entry] : book.entries()) {
            const auto answer = client.post_json("/v1/tasks", entry.first.body, key);
            ASSERT_TRUE(answer.has_value());
            EXPECT_EQ(answer->status, 201u);
            EXPECT_TRUE(answer->replayed());
            EXPECT_EQ(answer->body, entry.second);
        }
    }
};

TEST_F(kill_test, what_was_acknowledged_survives_kills_at_any_instant) {
    const auto rounds = setting("CALLSIGN_SYSTEM_ROUNDS").value_or(60);
    const auto seed = system_seed();
    SCOPED_TRACE("CALLSIGN_SYSTEM_SEED=" + std::to_string(seed));
    constexpr unsigned pairs = 6;

    auto s = start();
    twins_crew all{s->port(), make_account(*s, "crew", prefixes[0]), {}, {}};
    http_client owner(s->port(), all.token);
    const auto series = owner.post_json("/v1/series", R"({"prefix":"INC"})");
    ASSERT_TRUE(series && series->status == 201);

    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 2 * pairs; ++i)
        threads.emplace_back(&twins_crew::work, &all, seed + i / 2, seed + 1000 + i);
    std::mt19937_64 random(seed);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        all.book.await(all.book.acknowledged() + 1 + random() % 300);
        // So that a kill does not always follow an answer; the length of the pause is drawn, and
        // nothing is expected to have happened by its end.
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
        s->child().kill();
        s->start();
    }
    all.done = true;
    for (std::thread& t : threads) t.join();

    EXPECT_EQ(all.book.faults(), "");
    audit_numbers(all.book);
    audit_replays(*s, all.token, all.book);
    s->child().kill();
    expect_sound();
    RecordProperty("creations", std::to_string(all.book.entries().size()));
}

TEST_F(kill_test, a_key_whose_client_went_away_is_finished_by_its_retry) {
    auto s = start();
    const std::string token = make_account(*s, "solo", "SYN");
    const creation c{"left-behind", R"({"description":"Sent, and never waited for"})"};
    for (int i = 0; i < 20; ++i) {
        // The whole request goes out, and the server dies before or after taking it: either way
        // there is one task in the end.
        http_client sender(s->port(), token);
        ASSERT_TRUE(sender.send("POST /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                                token + "\r\nContent-Type: application/json\r\n" +
                                "Idempotency-Key: \"" + c.key + std::to_string(i) +
                                "\"\r\nContent-Length: " + std::to_string(c.body.size()) +
                                "\r\n\r\n" + c.body));
        s->child().kill();
        s->start();
        retrying_client again(s->port(), token, 1);
        const auto answer =
            again.create(c.key + std::to_string(i), c.body, give_up_after(patience));
        ASSERT_TRUE(answer.has_value()) << "no definite answer";
        ASSERT_EQ(answer->status, 201u) << answer->body;
        EXPECT_EQ(json::parse(answer->body).at("number").to_number<int>(), i + 1);
    }
    s->child().kill();
    expect_sound();
}

}  // namespace
}  // namespace callsign::testing
