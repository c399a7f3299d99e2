// The history of an opaque account, decrypted with its secret.

#include "jobs/history.hpp"

#include <callsign/wire/segment.hpp>

#include <array>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

uuid id_of(std::uint64_t n) {
    return make_uuid_v7({}, n, n);
}

struct opened_history : ::testing::Test {
    void add(std::vector<operation> what) {
        const uuid parent = id_of(seq_);
        ++seq_;
        const std::array<std::uint8_t, seal::nonce_bytes> nonce{};
        read_sealed_versions::answer page;
        sealed_version& next = page.versions.emplace_back();
        next.seq = seq_;
        next.id = id_of(seq_);
        next.parent = seq_ == 1 ? uuid{} : parent;
        next.created_at = time_point{milliseconds{seq_}};
        next.segment = seal::seal_body(key_, next.parent, nonce, wire::encode_segment(what));
        const auto wrong = history_.add(page);
        ASSERT_FALSE(wrong) << wrong->why;
    }

    const seal::key key_{std::array<std::uint8_t, seal::key_bytes>{}};
    jobs::history_opener history_{key_};
    std::int64_t seq_ = 0;
};

// As in an account that was always managed: the receipt is of the first creation, and the history
// of the task begins there.
TEST_F(opened_history, a_task_that_was_created_twice_counts_from_the_first_creation) {
    const uuid task = id_of(100), other = id_of(101);
    add({{operation_kind::create, task, {}, {}, {}}});
    add({{operation_kind::create, other, {}, {}, {}}});
    add({{operation_kind::remove, task, {}, {}, {}}});
    add({{operation_kind::create, task, {}, {}, {}}});
    const auto all = history_.take_tasks();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].uuid, task);
    EXPECT_EQ(all[0].seq, 1);
    EXPECT_EQ(all[0].created_at, time_point{milliseconds{1}});
    EXPECT_EQ(all[1].uuid, other);
}

}  // namespace
}  // namespace callsign::testing
