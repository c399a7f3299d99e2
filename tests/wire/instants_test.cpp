// Goal: an instant that is accepted can be written and stored. Method: each field of each message
// that holds instants, at its limits and just beyond them, in both forms.

#include "callsign/v1/callsign.pb.h"

#include <callsign/base/instant_bounds.hpp>
#include <callsign/wire/message.hpp>

#include <gtest/gtest.h>
#include <memory>

namespace callsign::wire {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Timestamp;

struct instant_case {
    std::int64_t seconds;
    std::int32_t nanos;
    bool is_good;
};

constexpr std::int64_t first_second = -62'135'596'800;
constexpr std::int64_t last_second = 253'402'300'799;
constexpr instant_case cases[] = {
    {first_second, 0, true},
    {first_second - 1, 999'999'999, false},
    {last_second, 999'999'999, true},
    {last_second + 1, 0, false},
    {INT64_MIN, 0, false},
    {INT64_MAX, 0, false},
    {0, -1, false},
    {0, 999'999'999, true},
    {0, 1'000'000'000, false},
    {last_second, 1'000'000'000, false},
    {first_second, -1, false},
};

Timestamp& stamp_of(google::protobuf::Message& message, const FieldDescriptor* field) {
    const auto& access = *message.GetReflection();
    return static_cast<Timestamp&>(field->is_repeated() ? *access.AddMessage(&message, field)
                                                        : *access.MutableMessage(&message, field));
}

void expect_kept_or_rejected(const google::protobuf::Message& empty, const FieldDescriptor* field,
                             const instant_case& wanted) {
    SCOPED_TRACE(field->full_name() + " " + std::to_string(wanted.seconds) + " " +
                 std::to_string(wanted.nanos));
    const std::unique_ptr<google::protobuf::Message> sent(empty.New()), read(empty.New()),
        again(empty.New());
    Timestamp& stamp = stamp_of(*sent, field);
    stamp.set_seconds(wanted.seconds);
    stamp.set_nanos(wanted.nanos);
    // A handler that collects further errors also reads rejected values.
    const time_point at = to_time_point(stamp);
    EXPECT_TRUE(is_instant(at));
    field_errors found;
    ASSERT_EQ(decode(format::protobuf, sent->SerializeAsString(), *read, found), wanted.is_good);
    if (!wanted.is_good) {
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].field.rfind(field->json_name(), 0), 0u) << found[0].field;
        EXPECT_EQ(found[0].code, "invalid");
        return;
    }
    EXPECT_EQ(parse_rfc3339(to_rfc3339(at)), at);
    ASSERT_TRUE(decode(format::json, encode(format::json, *read), *again, found));
    const auto& access = *again->GetReflection();
    const auto& kept = static_cast<const Timestamp&>(
        field->is_repeated() ? access.GetRepeatedMessage(*again, field, 0)
                             : access.GetMessage(*again, field));
    EXPECT_EQ(to_time_point(kept), at);
}

TEST(instants, of_every_field_are_stored_or_rejected) {
    const auto* file = v1::CreateTask::descriptor()->file();
    int fields = 0;
    for (int m = 0; m < file->message_type_count(); ++m) {
        const auto& empty = *google::protobuf::MessageFactory::generated_factory()->GetPrototype(
            file->message_type(m));
        for (int f = 0; f < file->message_type(m)->field_count(); ++f) {
            const auto* field = file->message_type(m)->field(f);
            if (field->message_type() != Timestamp::descriptor()) continue;
            ++fields;
            for (const instant_case& wanted : cases) expect_kept_or_rejected(empty, field, wanted);
        }
    }
    EXPECT_GT(fields, 30);
}

TEST(instants, inside_of_a_list_are_named_by_their_index) {
    v1::CreateTask sent, read;
    sent.add_annotations();
    sent.add_annotations()->mutable_entry()->set_nanos(-1);
    field_errors found;
    EXPECT_FALSE(decode(format::protobuf, sent.SerializeAsString(), read, found));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].field, "annotations[1].entry");
}

TEST(instants, of_another_year_are_rejected_in_json) {
    for (const char* text : {"0000-12-31T23:59:59.999Z", "0001-01-01T00:00:00+00:01",
                             "9999-12-31T23:59:59-00:01", "10000-01-01T00:00:00Z"}) {
        v1::CreateToken read;
        field_errors found;
        const std::string json = R"({"expiresAt": ")" + std::string(text) + R"("})";
        EXPECT_FALSE(decode(format::json, json, read, found)) << text;
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].field, "expiresAt");
    }
}

}  // namespace
}  // namespace callsign::wire
