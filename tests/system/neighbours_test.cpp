// Goal: whatever load an account generates, every request gets its response or 503 with
// Retry-After, and no request of a quiet account is rejected. Method: the real server, and a few
// dozen connections of one account, an operator or anonymous clients, with a limited number of
// expensive requests; no times are measured. bench/neighbours measures latencies.

#include "fixture.hpp"
#include "support/sync_words.hpp"

#include <callsign/seal/envelope.hpp>
#include <callsign/wire/segment.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>

namespace callsign::testing {
namespace {

std::string uuid_text(unsigned a, unsigned b) {
    char text[37];
    std::snprintf(text, sizeof text, "%08x-%04x-4000-8000-%012x", a, b & 0xffffu, b >> 16u);
    return text;
}

class neighbours : public system_test {
  protected:
    std::unique_ptr<server> start_with_key(environment more = {}) const {
        more.emplace_back("CALLSIGN_MASTER_KEY", std::string(64, 'a'));
        return start({}, std::move(more));
    }

    // One request of a load connection.
    using act =
        std::function<std::optional<http_answer>(http_client&, unsigned connection, unsigned n)>;

    // Runs the load to its end, with concurrent requests of the quiet account.
    void run(const server& s, const std::string& loud_token, unsigned connections,
             unsigned requests, const act& ask) {
        const std::string quiet = make_account(s, "quiet", "SYN");
        // The server now knows the token; before its first request it is an anonymous client.
        ASSERT_EQ(http_client(s.port(), quiet).get("/v1/account")->status, 200);
        std::atomic<unsigned> left = connections;
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < connections; ++i) {
            threads.emplace_back([&, i] {
                http_client c(s.port(), loud_token, timeout);
                for (unsigned n = 0; n < requests; ++n) note(ask(c, i, n));
                --left;
            });
        }
        http_client c(s.port(), quiet, timeout);
        unsigned made = 0;
        for (; left != 0 || made == 0; ++made) {
            const auto created = c.post_json("/v1/tasks", R"({"description":"Mend the tap"})",
                                             "quiet-" + std::to_string(made));
            EXPECT_TRUE(created && created->status == 201)
                << (created ? created->body : "no response");
            const auto read = c.get("/v1/tasks/SYN-1");
            EXPECT_TRUE(read && read->status == 200) << (read ? read->body : "no response");
            if (HasFailure()) break;
        }
        for (std::thread& t : threads) t.join();
        EXPECT_GT(served_, 0u) << "the load must make progress too";
    }

    unsigned served() const { return served_; }
    unsigned rejected() const { return rejected_; }

  private:
    void note(const std::optional<http_answer>& answer) {
        const std::lock_guard lock(mutex_);
        if (!answer) {
            ADD_FAILURE() << "no response";
        } else if (answer->status == 503) {
            ++rejected_;
            EXPECT_NE(answer->header("Retry-After"), "") << answer->body;
        } else {
            ++served_;
            EXPECT_LT(answer->status, 300u) << answer->status << " " << answer->body;
        }
    }

    std::mutex mutex_;
    unsigned served_ = 0;
    unsigned rejected_ = 0;
};

TEST_F(neighbours, large_creations) {
    auto s = start({}, {{"CALLSIGN_ENGINE_QUEUE_BYTES_MAX", "8MiB"},
                        {"CALLSIGN_ENGINE_ACCOUNT_BYTES_MAX", "6MiB"}});
    const std::string loud = make_account(*s, "loud", "TASK");
    json::object attributes;
    for (int n = 0; n < 9; ++n) attributes["note" + std::to_string(n)] = std::string(65'000, 'x');
    const std::string body =
        json::serialize(json::object{{"description", "large"}, {"attributes", attributes}});
    run(*s, loud, 32, 6, [&](http_client& c, unsigned i, unsigned n) {
        return c.post_json("/v1/tasks", body, std::to_string(i) + "-" + std::to_string(n));
    });
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

TEST_F(neighbours, imports_and_snapshots) {
    auto s = start_with_key();
    make_account(*s, "loud", "TASK");
    http_client as_operator(s->port(), s->admin_token(), timeout);
    const auto device =
        as_operator.post_json("/v1/admin/accounts/loud/devices", R"({"name":"laptop"})");
    ASSERT_TRUE(device && device->status == 201);
    const std::string client(json::parse(device->body).at("clientId").as_string());
    run(*s, s->admin_token(), 24, 5, [&](http_client& c, unsigned i, unsigned n) {
        if (i >= 4 && n > 0)
            return c.request("GET", "/v1/client/snapshot", {{"X-Client-Id", client}});
        json::array tasks;
        for (unsigned k = 0; k < 300; ++k) {
            tasks.push_back(
                json::object{{"uuid", uuid_text(i * 100 + n + 1, k)},
                             {"attributes", json::object{{"description", "Mend the tap"},
                                                         {"status", "pending"},
                                                         {"entry", "1700000000"}}}});
        }
        return c.post_json("/v1/admin/accounts/loud/import",
                           json::serialize(json::object{{"tasks", std::move(tasks)}}));
    });
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

TEST_F(neighbours, large_stale_segments) {
    auto s = start_with_key();
    make_account(*s, "loud", "TASK");
    http_client as_operator(s->port(), s->admin_token(), timeout);
    const auto device =
        as_operator.post_json("/v1/admin/accounts/loud/devices", R"({"name":"laptop"})");
    ASSERT_TRUE(device && device->status == 201);
    const json::value made = json::parse(device->body);
    const std::string client(made.at("clientId").as_string());
    const std::string secret(made.at("encryptionSecret").as_string());
    const auto key = seal::derive_key(
        {reinterpret_cast<const std::uint8_t*>(secret.data()), secret.size()}, *parse_uuid(client));

    run(*s, "", 8, 6, [&](http_client& c, unsigned i, unsigned n) {
        std::vector<operation> all;
        for (unsigned k = 0; k < (n % 2 == 0 ? 500u : 1u); ++k) {
            const uuid id = *parse_uuid(uuid_text(i * 100 + n + 1, k));
            all.push_back({operation_kind::create, id, {}, {}, {}});
            all.push_back({operation_kind::update, id, "description", "Mend the tap",
                           precise_time(std::chrono::seconds{1'700'000'000})});
        }
        std::array<std::uint8_t, seal::nonce_bytes> nonce{};
        const std::array<unsigned, 2> drawn{i + 1, n};
        std::memcpy(nonce.data(), drawn.data(), sizeof drawn);
        // All replicas start from the beginning, so all but the first one are stale.
        return c.request(
            "POST", std::string("/v1/client/add-version/") + nil_id,
            {{"Content-Type", segment_type}, {"X-Client-Id", client}},
            seal::seal_body(key, *parse_uuid(nil_id), nonce, wire::encode_segment(all)));
    });
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

TEST_F(neighbours, anonymous_registrations) {
    auto s = start({}, {{"CALLSIGN_SYNC_OPEN_REGISTRATION", "true"},
                        {"CALLSIGN_ENGINE_QUEUE_DEPTH_MAX", "16"},
                        {"CALLSIGN_ENGINE_ACCOUNT_DEPTH_MAX", "4"}});
    run(*s, "", 24, 20, [&](http_client& c, unsigned i, unsigned n) {
        return c.request(
            "POST", std::string("/v1/client/add-version/") + nil_id,
            {{"Content-Type", segment_type}, {"X-Client-Id", uuid_text(i * 100 + n + 1, 1)}},
            "sealed");
    });
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

}  // namespace
}  // namespace callsign::testing
