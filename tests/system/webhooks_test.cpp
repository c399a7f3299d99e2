// Goal: a webhook's receiver gets every change, in order, at least once, whatever happens to either
// server; and nothing is sent to addresses that the configuration does not allow.
//
// Method: the real server posts to a server of this test, which rejects, hangs up and does not
// respond, as a seed determines, while the real server is killed and restarted. Accepted changes
// must be contiguous. CALLSIGN_SYSTEM_SEED determines the moments.

#include "fixture.hpp"
#include "support/setting.hpp"

#include <callsign/net/http.hpp>
#include <callsign/seal/webhook_signature.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::string_view secret_text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

net::http_response reject(const net::rejected_request& rejected) {
    net::http_response response;
    response.status = rejected.status;
    return response;
}

class receiver {
  public:
    explicit receiver(std::uint64_t seed, int faults_in_ten = 0)
        : random_(seed), faults_in_ten_(faults_in_ten) {
        asio::co_spawn(context_, http_.run(), asio::detached);
        thread_ = std::thread([this] { context_.run(); });
    }
    ~receiver() {
        context_.stop();
        thread_.join();
    }

    std::string url() const {
        return "http://127.0.0.1:" + std::to_string(http_.local_endpoint().port()) + "/hook";
    }
    // Waits until this number of distinct changes was accepted.
    bool await(std::int64_t seq) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, timeout, [&] { return last_seq_ >= seq; });
    }
    std::vector<std::string> faults() {
        const std::lock_guard lock(mutex_);
        return faults_;
    }
    int posts() {
        const std::lock_guard lock(mutex_);
        return posts_;
    }

  private:
    asio::awaitable<net::http_response> answer(net::http_request request) {
        net::http_response response;
        const int drawn = std::uniform_int_distribution<>(0, 9)(random_);
        if (drawn < faults_in_ten_ && drawn % 3 == 0) {
            // Exceeds the sender's deadline.
            asio::steady_timer silence(context_, 400ms);
            co_await silence.async_wait(asio::use_awaitable);
        }
        // Half of the failures follow a successful receipt.
        const bool fails = drawn < faults_in_ten_;
        if (!fails || drawn % 2 == 0) take(request);
        response.status = fails ? 503 : 204;
        co_return response;
    }

    void take(const net::http_request& request) {
        const std::lock_guard lock(mutex_);
        ++posts_;
        const auto field = [&](const char* name) { return std::string(request[name]); };
        const auto secret = seal::parse_webhook_secret(secret_text);
        const std::string signature =
            seal::webhook_signature(secret->bytes(), field("webhook-id"),
                                    std::stoll(field("webhook-timestamp")), request.body());
        if (field("webhook-signature") != signature) faults_.emplace_back("not signed");
        const json::value body = json::parse(request.body());
        for (const auto& change : body.at("changes").as_array()) {
            const std::int64_t seq = change.at("seq").as_int64();
            if (seq > last_seq_ + 1) {
                faults_.push_back("from " + std::to_string(last_seq_) + " to " +
                                  std::to_string(seq));
            }
            last_seq_ = std::max(last_seq_, seq);
        }
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::mt19937_64 random_;
    const int faults_in_ten_;
    std::int64_t last_seq_ = 0;
    int posts_ = 0;
    std::vector<std::string> faults_;
    asio::io_context context_{1};
    net::http_probe probe_;
    net::http_server http_{context_.get_executor(),
                           {asio::ip::address_v4::loopback(), 0},
                           {},
                           [this](net::http_request r) { return answer(std::move(r)); },
                           reject,
                           probe_};
    std::thread thread_;
};

class webhook_test : public system_test {
  protected:
    webhook_test() {
        std::ofstream(key_file()) << std::string(64, 'a') << "\n";
        std::filesystem::permissions(
            key_file(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
    std::filesystem::path key_file() const { return temp_path("master.key"); }
    std::unique_ptr<server> start_with(system_test::environment more) const {
        more.emplace_back("CALLSIGN_SECRETS_MASTER_KEY_FILE", key_file().string());
        return start({}, std::move(more));
    }
    // Creates an account and returns an admin token for it.
    std::string make_owner(const server& s) const {
        make_account(s, "work", "SYN");
        const json::object made =
            ask_callsign({"token", "create", "work", "--name", "owner", "--scope", "admin"});
        return std::string(made.at("token").as_string());
    }
    static std::string add(http_client& owner, const std::string& url) {
        const json::object wanted{{"url", url}, {"secret", secret_text}, {"after", "0"}};
        const auto made = owner.post_json("/v1/webhooks", json::serialize(wanted));
        EXPECT_TRUE(made && made->status == 201) << (made ? made->body : "no response");
        return std::string(json::parse(made->body).at("webhookId").as_string());
    }
    static void create(http_client& owner, const std::string& key) {
        for (;;) {
            const auto made = owner.post_json("/v1/tasks", R"({"description":"d"})", key);
            if (made && made->status == 201) return;
        }
    }
};

TEST_F(webhook_test, every_change_is_posted_in_order_across_kills) {
    const std::uint64_t drawn = system_seed();
    SCOPED_TRACE("CALLSIGN_SYSTEM_SEED=" + std::to_string(drawn));
    std::mt19937_64 random(drawn);
    receiver to(drawn, 4);
    const auto s = start_with({{"CALLSIGN_WEBHOOKS_ALLOW_ADDRESSES", "127.0.0.0/8"},
                               {"CALLSIGN_WEBHOOKS_TIMEOUT", "200ms"},
                               {"CALLSIGN_WEBHOOKS_RETRY_MIN", "10ms"},
                               {"CALLSIGN_WEBHOOKS_RETRY_MAX", "50ms"},
                               {"CALLSIGN_WEBHOOKS_FAILURES_MAX", "100000"},
                               {"CALLSIGN_WEBHOOKS_CHANGES_MAX", "7"}});
    const std::string token = make_owner(*s);
    http_client owner(s->port(), token);
    add(owner, to.url());
    constexpr int tasks = 300;
    for (int n = 1; n <= tasks; ++n) {
        create(owner, std::to_string(n));
        if (std::uniform_int_distribution<>(0, 29)(random) == 0) {
            s->child().kill();
            s->start();
        }
    }
    EXPECT_TRUE(to.await(tasks));
    EXPECT_EQ(to.faults(), std::vector<std::string>{});
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

TEST_F(webhook_test, private_addresses_receive_nothing_whatever_their_name) {
    receiver to(1);
    const auto s = start_with({});
    http_client owner(s->port(), make_owner(*s));
    const json::object direct{{"url", to.url()}};
    const auto rejected = owner.post_json("/v1/webhooks", json::serialize(direct));
    ASSERT_TRUE(rejected);
    EXPECT_EQ(rejected->status, 400u);
    EXPECT_NE(rejected->body.find("address-not-allowed"), std::string::npos);
    std::string by_name = to.url();
    by_name.replace(by_name.find("127.0.0.1"), 9, "localhost");
    const std::string id = add(owner, by_name);
    create(owner, "one");
    // The attempt is in the webhook's list of deliveries.
    for (std::string log; log.find("no permitted address") == log.npos;) {
        const auto answer = owner.get("/v1/webhooks/" + id + "/deliveries");
        ASSERT_TRUE(answer && answer->status == 200);
        log = answer->body;
    }
    EXPECT_EQ(to.posts(), 0);
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
}

// Shutdown does not wait for a receiver that does not respond.
TEST_F(webhook_test, a_stop_does_not_wait_for_a_silent_server) {
    asio::io_context context;
    tcp::acceptor silent(context, {asio::ip::address_v4::loopback(), 0});
    const auto s = start_with({{"CALLSIGN_WEBHOOKS_ALLOW_ADDRESSES", "127.0.0.0/8"},
                               {"CALLSIGN_WEBHOOKS_TIMEOUT", "10m"}});
    http_client owner(s->port(), make_owner(*s));
    add(owner, "http://127.0.0.1:" + std::to_string(silent.local_endpoint().port()) + "/");
    create(owner, "one");
    tcp::socket caller(context);
    silent.accept(caller);
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

}  // namespace
}  // namespace callsign::testing
