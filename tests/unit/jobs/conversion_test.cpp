// A conversion in steps is listed while it runs, and can be cancelled between two steps.

#include "support/audit.hpp"
#include "support/test_server.hpp"

#include <callsign/jobs/conversion.hpp>
#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/seal/envelope.hpp>
#include <callsign/wire/segment.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::asio::awaitable;

struct conversion : ::testing::Test {
    conversion() {
        const auto made = h.run(h.engine().submit(
            create_account{"vault", "VLT", "default", sha256("token"), client_id}));
        account = std::get<callsign::account>(*made).id;
        const auto added = h.run(
            h.engine().submit(add_sealed_version{client_id, uuid{}, "sealed", false, account}));
        EXPECT_TRUE(added && std::holds_alternative<add_sealed_version::added>(*added));
    }
    awaitable<void> convert(std::optional<jobs::conversion_answer>& told) {
        actor itself;
        auto answer = co_await jobs::convert_account(with, "vault", secret, std::move(itself));
        if (answer) told = std::move(*answer);
    }
    // Runs until the conversion is on the board.
    bool begin(std::optional<jobs::conversion_answer>& told) {
        h.spawn(convert(told));
        while (board.count(jobs::job_kind::conversion) == 0 && h.step()) {
        }
        return board.count(jobs::job_kind::conversion) == 1;
    }

    test_server h;
    const uuid client_id = make_uuid_v7({}, 1, 7);
    const seal::key_ring master{seal::key(std::array<std::uint8_t, seal::key_bytes>{})};
    jobs::board board;
    jobs::context with{h.engine(), h.entropy(), &master, board};
    const std::string secret = "hush";
    account_id account;
};

TEST_F(conversion, is_on_the_board_while_it_lasts) {
    std::optional<jobs::conversion_answer> told;
    ASSERT_TRUE(begin(told));
    EXPECT_EQ(board.find(jobs::job_kind::conversion, account)->total, 1);
    EXPECT_FALSE(board.find(jobs::job_kind::import, account));
    EXPECT_FALSE(board.find(jobs::job_kind::conversion, account_id{99}));
    std::optional<jobs::conversion_answer> second;
    h.spawn(convert(second));
    h.settle();
    EXPECT_TRUE(second && std::holds_alternative<jobs::another_under_way>(*second));
    // The body of the added version is not an envelope.
    ASSERT_TRUE(told && std::holds_alternative<jobs::history_fault>(*told));
    EXPECT_FALSE(board.find(jobs::job_kind::conversion, account));
}

TEST_F(conversion, is_cancelled_between_two_steps_and_changes_nothing) {
    std::optional<jobs::conversion_answer> told;
    ASSERT_TRUE(begin(told));
    EXPECT_FALSE(board.cancel(jobs::job_kind::conversion, account_id{99}));
    EXPECT_TRUE(board.cancel(jobs::job_kind::conversion, account));
    h.settle();
    ASSERT_TRUE(told && std::holds_alternative<jobs::cancelled>(*told));
    EXPECT_FALSE(board.cancel(jobs::job_kind::conversion, account)) << "it has ended";
    EXPECT_EQ(h.look([&](read_tx& tx) { return accounts::find(tx, account)->mode; }),
              account_mode::opaque);
}

// A history of more than one step, on a disk that outlives its server.
struct large_conversion : ::testing::Test {
    static constexpr int versions = 8;
    static constexpr int tasks_of_version = 200;

    large_conversion() {
        const auto made = home->run(home->engine().submit(
            create_account{"large", "LRG", "default", sha256("token"), client_id}));
        account = std::get<callsign::account>(*made).id;
        std::optional<seal::key> key;
        home->spawn(derive(key));
        home->settle();
        uuid parent{};
        for (int v = 0; v < versions; ++v) {
            std::vector<operation> all;
            for (int n = 0; n < tasks_of_version; ++n) {
                const uuid id = make_uuid_v7({}, 2, static_cast<std::uint64_t>(1000 * v + n));
                const std::string text(200, 'x');
                all.push_back({operation_kind::create, id, {}, {}, {}});
                all.push_back({operation_kind::update, id, "description", text, {}});
            }
            constexpr std::array<std::uint8_t, seal::nonce_bytes> nonce{};
            add_sealed_version next{client_id, parent, {}, false, account};
            next.segment = seal::seal_body(*key, parent, nonce, wire::encode_segment(all));
            const auto added = home->run(home->engine().submit(std::move(next)));
            parent = std::get<add_sealed_version::added>(*added).version;
        }
    }
    jobs::context& with() { return *context; }

    awaitable<void> derive(std::optional<seal::key>& key) {
        auto derived = co_await jobs::derive_key(with(), account, secret, client_id);
        if (derived) key.emplace(std::move(*derived));
    }
    awaitable<void> convert() {
        actor itself;
        auto answer = co_await jobs::convert_account(with(), "large", secret, std::move(itself));
        if (answer) told = std::move(*answer);
    }
    void restart() {
        context.reset();
        home.reset();
        board.emplace();
        told.reset();
        begin();
    }
    void begin() {
        test_server_options options;
        options.disk = disk.get();
        options.seed = ++seed;
        home = std::make_unique<test_server>(std::move(options));
        context.emplace(jobs::context{home->engine(), home->entropy(), &master, *board});
    }
    std::size_t taken_over() {
        return versions::some(*disk->begin_read(), account, 0, read_tx::no_limit).size();
    }
    account_mode mode() { return accounts::find(*disk->begin_read(), account)->mode; }
    std::optional<account_mode> left_over() {
        const auto found = rules::read(*disk->begin_read(), find_half_managed{});
        return found.first ? std::optional(found.first->mode) : std::nullopt;
    }
    void expect_sound() { EXPECT_EQ(audit(*disk), std::vector<std::string>{}); }

    const std::unique_ptr<strict_memory_store> disk = make_memory_store();
    const uuid client_id = make_uuid_v7({}, 1, 8);
    const seal::key_ring master{seal::key(std::array<std::uint8_t, seal::key_bytes>{})};
    const std::string secret = "hush";
    std::uint64_t seed = 0;
    std::optional<jobs::board> board{std::in_place};
    std::unique_ptr<test_server> home;
    std::optional<jobs::context> context;
    const bool begun = (begin(), true);
    account_id account;
    std::optional<jobs::conversion_answer> told;
};

TEST_F(large_conversion, is_visible_only_when_it_has_ended) {
    home->spawn(convert());
    bool was_half = false;
    while (!told && home->step()) {
        was_half = was_half || (taken_over() > 0 && mode() == account_mode::opaque);
    }
    ASSERT_TRUE(told && std::holds_alternative<jobs::converted>(*told));
    EXPECT_TRUE(was_half);
    const auto& counts = std::get<jobs::converted>(*told).counts;
    EXPECT_EQ(counts.versions, versions);
    EXPECT_EQ(counts.tasks, versions * tasks_of_version);
    EXPECT_GT(taken_over(), versions + 1u);  // the keys take several versions
    EXPECT_FALSE(left_over());
    const auto tx = disk->begin_read();
    const auto series = all_series::default_of(*tx, account)->id;
    EXPECT_EQ(std::ssize(tasks::numbered(*tx, series, "", 0, read_tx::no_limit)), counts.tasks);
    expect_sound();
}

// No managed data is left of an account that has stayed opaque.
TEST_F(large_conversion, cancelled_in_progress_leaves_nothing) {
    home->spawn(convert());
    while (taken_over() == 0 && home->step()) {
    }
    EXPECT_TRUE(board->cancel(jobs::job_kind::conversion, account));
    home->settle();
    ASSERT_TRUE(told && std::holds_alternative<jobs::cancelled>(*told));
    EXPECT_EQ(taken_over(), 0u);
    EXPECT_EQ(mode(), account_mode::opaque);
    expect_sound();
}

// The crash occurs after every few steps.
TEST_F(large_conversion, remains_of_a_crash_are_removed_at_the_next_start) {
    bool was_opaque = false, was_managed = false;
    for (int steps = 1; mode() == account_mode::opaque; steps += 5) {
        home->spawn(convert());
        for (int n = 0; n < steps && !told && home->step(); ++n) {
        }
        const auto left = left_over();
        was_opaque = was_opaque || left == account_mode::opaque;
        was_managed = was_managed || left == account_mode::managed;
        expect_sound();
        restart();
        const auto finished = home->run(jobs::finish_conversions(with()));
        EXPECT_EQ(finished ? *finished : -1, left ? 1 : 0);
        EXPECT_FALSE(left_over());
        EXPECT_TRUE(mode() == account_mode::managed || taken_over() == 0);
        expect_sound();
    }
    EXPECT_TRUE(was_opaque);
    EXPECT_TRUE(was_managed);
}

}  // namespace
}  // namespace callsign::testing
