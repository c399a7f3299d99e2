// Columns of bytes: encoded values are decoded, all others rejected.

#include "callsign/rows/v1/rows.pb.h"
#include "t0.hpp"

#include <callsign/store/columns.hpp>

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace callsign::columns {
namespace {

using kind = operation_kind;
namespace rows = ::callsign::rows::v1;

uuid id_of(std::uint64_t n) {
    return make_uuid_v7(t0, 1, n);
}

const std::vector<operation> sample_operations = {
    {kind::create, id_of(1), {}, {}, {}},
    {kind::update, id_of(1), "description", "one", t0},
    {kind::update, id_of(1), "tag", std::nullopt, t0 + std::chrono::nanoseconds{7}},
    {kind::remove, id_of(2), {}, {}, {}},
};

// One field differs from those that encode() writes.
struct message_damage {
    const char* name;
    std::function<void(rows::Operations&)> done;
};

class damaged_operations : public ::testing::TestWithParam<message_damage> {};

TEST(operation_rows, are_read_as_they_were_written) {
    EXPECT_EQ(decode_operations(encode(sample_operations)), sample_operations);
    EXPECT_EQ(decode_operations(""), std::vector<operation>{});
}

TEST(operation_rows, cut_anywhere_or_with_any_byte_changed_end_nothing) {
    const std::string whole = encode(sample_operations);
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        const auto read = decode_operations(std::string_view(whole).substr(0, cut));
        // A cut between two operations is valid.
        if (read) {
            EXPECT_LT(read->size(), sample_operations.size());
        }
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string other = whole;
            other[at] = static_cast<char>(other[at] ^ (1 << bit));
            const auto read = decode_operations(other);
            if (!read) continue;
            for (const operation& o : *read) {
                EXPECT_TRUE(o.kind == kind::create || o.kind == kind::remove ||
                            o.kind == kind::update);
            }
        }
    }
}

TEST_P(damaged_operations, are_rejected) {
    rows::Operations message;
    ASSERT_TRUE(message.ParseFromString(encode(sample_operations)));
    GetParam().done(message);
    EXPECT_FALSE(decode_operations(message.SerializeAsString()));
}

INSTANTIATE_TEST_SUITE_P(
    damages, damaged_operations,
    ::testing::Values(
        message_damage{"no_kind", [](auto& m) { m.mutable_operations(1)->clear_kind(); }},
        message_damage{"another_kind", [](auto& m) { m.mutable_operations(1)->set_kind(4); }},
        message_damage{"a_negative_kind", [](auto& m) { m.mutable_operations(3)->set_kind(-1); }},
        message_damage{"no_task", [](auto& m) { m.mutable_operations(0)->clear_uuid(); }},
        message_damage{"half_a_uuid",
                       [](auto& m) { m.mutable_operations(3)->set_uuid("12345678"); }},
        message_damage{"no_time", [](auto& m) { m.mutable_operations(1)->clear_at(); }},
        message_damage{"a_time_beyond_all",
                       [](auto& m) { m.mutable_operations(1)->set_at(INT64_MAX); }},
        message_damage{"a_second_of_nanoseconds",
                       [](auto& m) { m.mutable_operations(2)->set_at_rest(1'000'000); }}),
    [](const auto& each) { return std::string(each.param.name); });

// ---- retries ----

retry_record some_retries() {
    retry_times t(std::chrono::hours{1});
    t.saw(2, milliseconds{700}, slot_state::failed);
    t.pass(std::chrono::minutes{7});
    t.saw(2, milliseconds{41'000}, slot_state::pending);
    t.failed(3);
    t.choose(milliseconds{62'000}, true, true);
    t.pass(std::chrono::minutes{1});
    return t.record();
}

TEST(retry_rows, are_read_as_they_were_written) {
    EXPECT_EQ(decode_retry_record(encode(some_retries())), some_retries());
}

TEST(retry_rows, truncated_or_altered_ones_are_sound_or_rejected) {
    const std::string whole = encode(some_retries());
    for (std::size_t at = 0; at < whole.size(); ++at) {
        if (const auto read = decode_retry_record(whole.substr(0, at))) {
            EXPECT_TRUE(is_sound(*read));
        }
        for (int bit = 0; bit < 8; ++bit) {
            std::string other = whole;
            other[at] = static_cast<char>(other[at] ^ (1 << bit));
            const auto read = decode_retry_record(other);
            if (!read) continue;
            ASSERT_TRUE(is_sound(*read));
            // With any content, the results are finite numbers.
            retry_times t(*read);
            t.pass(std::chrono::hours{24 * 365});
            t.saw(1, milliseconds{1}, slot_state::failed);
            EXPECT_TRUE(std::isfinite(t.samples()));
            EXPECT_TRUE(std::isfinite(t.with(std::chrono::hours{1}).pending));
            EXPECT_TRUE(is_sound(t.record()));
        }
    }
}

TEST(retry_rows, that_encode_would_not_have_written_are_rejected) {
    const auto rejected = [](auto damage) {
        rows::RetryTimes message;
        EXPECT_TRUE(message.ParseFromString(encode(some_retries())));
        damage(message);
        return !decode_retry_record(message.SerializeAsString());
    };
    EXPECT_TRUE(rejected([](auto& m) { m.mutable_retries()->RemoveLast(); }));
    EXPECT_TRUE(rejected([](auto& m) { m.mutable_retries(2)->add_buckets(200); }));
    EXPECT_TRUE(rejected([](auto& m) { m.mutable_retries(2)->set_weights(0, -1); }));
    EXPECT_TRUE(rejected([](auto& m) { m.mutable_retries(2)->set_weights(0, std::nan("")); }));
    EXPECT_TRUE(rejected([](auto& m) { m.mutable_retries(2)->set_buckets(1, 9999); }));
    EXPECT_TRUE(rejected([](auto& m) { m.mutable_retries(2)->set_buckets(0, 190); }));
    EXPECT_TRUE(rejected([](auto& m) { m.set_half_life_ms(0); }));
    EXPECT_TRUE(rejected([](auto& m) { m.set_age_ms(-1); }));
    EXPECT_TRUE(rejected([](auto& m) { m.set_failed(std::nan("")); }));
}

}  // namespace
}  // namespace callsign::columns
