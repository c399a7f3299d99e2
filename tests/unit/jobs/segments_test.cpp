// Segments that devices send, passed to the writer in steps. The versions that a device has missed
// are read between the steps.

#include "support/test_server.hpp"

#include <callsign/jobs/segments.hpp>
#include <callsign/rules/rows/accounts.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using kind = operation_kind;
using operations = std::vector<operation>;

struct segments : ::testing::Test {
    segments() {
        for (const uuid& client : {laptop, phone}) {
            const std::string name = client == laptop ? "laptop" : "phone";
            const auto made = h.run(h.engine().submit(create_device{account, name, client, "k"}));
            EXPECT_TRUE(std::holds_alternative<device>(made.value()));
        }
    }
    static operation update(std::string property, std::string value) {
        return {kind::update, task, std::move(property), std::move(value), precise_time{}};
    }
    result<add_version::answer> send(const uuid& client, const uuid& parent, operations all) {
        const auto reserve = [this](std::size_t bytes) {
            reserved += bytes;
            return reserved <= room;
        };
        const add_version next{client, parent, {}, account};
        return h.run(jobs::add_in_steps(with, next, std::move(all), reserve));
    }
    uuid sent(const uuid& client, const uuid& parent, operations all) {
        return std::get<add_version::added>(send(client, parent, std::move(all)).value()).version;
    }
    chain_head head() {
        return h.look([this](read_tx& tx) { return accounts::head_of(tx, account); });
    }

    static constexpr uuid laptop{{1}}, phone{{2}}, task{{3}};
    test_server h;
    account_id account = h.make_account("syn", "SYN").id;
    jobs::board board;
    jobs::context with{h.engine(), h.entropy(), nullptr, board};
    std::size_t room = std::size_t{64} << 20;
    std::size_t reserved = 0;
};

// Only missed operations that can conflict with the device's own are kept, and their bytes are
// reserved.
TEST_F(segments, missed_versions_are_read_between_the_commands) {
    uuid last = sent(laptop, uuid{}, {{kind::create, task, {}, {}, {}}});
    const uuid common = head().version;
    const std::string large(1'000'000, 'x');
    for (std::size_t n = 0; n * large.size() <= 2 * add_version::read_bytes_max; ++n) {
        last = sent(laptop, last, {update(n % 2 == 0 ? "met" : "other", large)});
    }
    EXPECT_EQ(reserved, 0u);
    const std::int64_t before = head().seq;
    room = 0;
    EXPECT_EQ(send(phone, common, {update("met", "mine")}).error(), errc::overloaded);
    EXPECT_EQ(head().seq, before);
    EXPECT_GT(reserved, 4 * large.size());
    EXPECT_LT(reserved, 6 * large.size());

    room = std::size_t{64} << 20;
    sent(phone, common, {update("met", "mine"), update("new", "mine")});
    EXPECT_EQ(head().seq, before + 1);
    // The missed operations have a limit in bytes.
    for (std::size_t n = 0; n * large.size() <= 2 * missed_changes::bytes_max; ++n) {
        last = sent(laptop, last, {update("met", large)});
    }
    EXPECT_TRUE(std::holds_alternative<add_version::too_far_behind>(
        send(phone, common, {update("met", "mine")}).value()));
    EXPECT_TRUE(std::holds_alternative<add_version::unknown_parent>(
        send(phone, uuid{{9}}, {update("met", "mine")}).value()));
}

}  // namespace
}  // namespace callsign::testing
