#include <callsign/wire/segment.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <zlib.h>

namespace callsign::wire {
namespace {

using kind = operation_kind;
using operations = std::vector<operation>;

const uuid id = *parse_uuid("f70ed568-0132-4fb2-ad77-19c4c8c0c321");
constexpr precise_time at{std::chrono::nanoseconds{1'795'176'846'943'616'280}};

std::string fault_of(const decoded_segment& read) {
    const auto* fault = std::get_if<malformed>(&read);
    return fault ? fault->detail : "none";
}

std::string fault_of(std::string_view json) {
    return fault_of(decode_segment(json));
}

TEST(segment, is_written_as_the_client_does) {
    const operations all{{kind::create, id, {}, {}, {}},
                         {kind::update, id, "a\"b", "\\ \b\f\n\r\t \x01\x1f\x7f /", at},
                         {kind::update, id, "due", std::nullopt, precise_time{}},
                         {kind::remove, id, {}, {}, {}}};
    EXPECT_EQ(
        encode_segment(all),
        "{\"operations\":[{\"Create\":{\"uuid\":\"f70ed568-0132-4fb2-ad77-19c4c8c0c321\"}},"
        "{\"Update\":{\"uuid\":\"f70ed568-0132-4fb2-ad77-19c4c8c0c321\",\"property\":\"a\\\"b\","
        "\"value\":\"\\\\ \\b\\f\\n\\r\\t \\u0001\\u001f\x7f /\","
        "\"timestamp\":\"2026-11-20T12:14:06.943616280Z\"}},"
        "{\"Update\":{\"uuid\":\"f70ed568-0132-4fb2-ad77-19c4c8c0c321\",\"property\":\"due\","
        "\"value\":null,\"timestamp\":\"1970-01-01T00:00:00Z\"}},"
        "{\"Delete\":{\"uuid\":\"f70ed568-0132-4fb2-ad77-19c4c8c0c321\"}}]}");
    EXPECT_EQ(encode_segment({}), "{\"operations\":[]}");
    EXPECT_EQ(decode_segment("{\"operations\":[]}"), decoded_segment(operations{}));
    EXPECT_EQ(decode_segment(encode_segment(all)), decoded_segment(all));
}

// A client aborts its sync at a version with invalid UTF-8.
TEST(segment, never_holds_what_is_not_utf_8) {
    const auto written = [](std::string value) {
        const operations all{{kind::update, id, "p", std::move(value), at}};
        const auto read = decode_segment(encode_segment(all));
        return std::get<operations>(read).front().value.value();
    };
    const std::string bad = "\xEF\xBF\xBD";
    EXPECT_EQ(written("Zażółć ✓ \U0001F600"), "Zażółć ✓ \U0001F600");
    EXPECT_EQ(written("a\xFFz"), "a" + bad + "z");
    EXPECT_EQ(written("\xC0\x80"), bad + bad);            // overlong
    EXPECT_EQ(written("\xED\xA0\x80"), bad + bad + bad);  // a surrogate
    EXPECT_EQ(written("\xF4\x90\x80\x80"), bad + bad + bad + bad);
    EXPECT_EQ(written("x\xE2\x9C"), "x" + bad + bad);  // truncated
    EXPECT_EQ(written(std::string("\0", 1)), std::string("\0", 1));
}

TEST(segment, is_read_in_any_order_and_with_space) {
    const auto read = decode_segment(
        " { \"operations\" : [ { \"Update\" : { \"timestamp\" : \"2026-11-20T13:14:06+01:00\" , "
        "\"value\" : \"\\u2713\\ud83d\\ude00\" , \"uuid\" : "
        "\"F70ED568-0132-4FB2-AD77-19C4C8C0C321\" , \"property\" : \"p\" } } ] } ");
    const precise_time wanted = *parse_precise_rfc3339("2026-11-20T12:14:06Z");
    EXPECT_EQ(read, decoded_segment(operations{{kind::update, id, "p", "✓\U0001F600", wanted}}));
}

std::string update_with(std::string_view members) {
    return "{\"operations\":[{\"Update\":{" + std::string(members) + "}}]}";
}

TEST(segment, an_invalid_one_is_rejected_with_position_and_reason) {
    const std::string u = "\"uuid\":\"f70ed568-0132-4fb2-ad77-19c4c8c0c321\"";
    const std::string create = "{\"Create\":{" + u + "}}";
    const std::string rest = "\"property\":\"p\",\"value\":null,";
    const std::string time = "\"timestamp\":\"2026-11-20T12:14:06Z\"";
    const std::string misplaced = "unexpected type of value.";

    EXPECT_EQ(fault_of(update_with(u + "," + rest + time)), "none");
    EXPECT_EQ(fault_of("{}"), "\"operations\" is missing.");
    EXPECT_EQ(fault_of("[" + create + "]"), misplaced);
    EXPECT_EQ(fault_of("{\"operations\":5}"), misplaced);
    EXPECT_EQ(fault_of("{\"operations\":[5]}"), "operations: " + misplaced);
    EXPECT_EQ(fault_of("{\"operations\":[[]]}"), "operations: " + misplaced);
    EXPECT_EQ(fault_of("{\"operations\":[\"UndoPoint\"]}"), "operations: " + misplaced);
    EXPECT_EQ(fault_of("{\"operations\":[],\"more\":1}"), "\"more\" is unknown.");
    EXPECT_EQ(fault_of("{\"operations\":[],\"operations\":[]}"), "\"operations\" is given twice.");
    EXPECT_EQ(
        fault_of("{\"operations\":[{}]}"),
        "operations[0]: an operation must have a member \"Create\", \"Delete\" or \"Update\".");
    EXPECT_EQ(fault_of("{\"operations\":[" + create + ",{\"Purge\":{}}]}"),
              "operations[1]: \"Purge\" is unknown.");
    EXPECT_EQ(
        fault_of("{\"operations\":[{\"Create\":{" + u + "},\"Delete\":{" + u + "}}]}"),
        "operations[0]: an operation must have one member: \"Create\", \"Delete\" or \"Update\".");
    EXPECT_EQ(fault_of("{\"operations\":[{\"Create\":\"" + to_string(id) + "\"}]}"),
              "operations[0]: " + misplaced);
    EXPECT_EQ(fault_of("{\"operations\":[{\"Create\":{}}]}"),
              "operations[0].Create: \"uuid\" is missing.");
    EXPECT_EQ(fault_of("{\"operations\":[{\"Create\":{\"uuid\":\"1\"}}]}"),
              "operations[0].Create.uuid: must be a UUID.");
    EXPECT_EQ(fault_of("{\"operations\":[{\"Delete\":{" + u + ",\"old_task\":{}}}]}"),
              "operations[0].Delete: \"old_task\" is unknown.");
    EXPECT_EQ(fault_of(update_with(u + "," + time + "," + u)),
              "operations[0].Update: \"uuid\" is given twice.");
    EXPECT_EQ(fault_of(update_with(u + ",\"property\":\"p\"," + time)),
              "operations[0].Update: \"value\" is missing.");
    EXPECT_EQ(fault_of(update_with(u + "," + rest + "\"timestamp\":\"today\"")),
              "operations[0].Update.timestamp: must be an RFC 3339 time between the years 1678 and "
              "2261.");
    EXPECT_EQ(fault_of(update_with(u + "," + rest + "\"timestamp\":null")),
              "operations[0].Update.timestamp: " + misplaced);
    EXPECT_EQ(fault_of(update_with(u + ",\"property\":\"p\",\"value\":7," + time)),
              "operations[0].Update.value: " + misplaced);
    EXPECT_EQ(fault_of(update_with(u + ",\"property\":\"p\",\"value\":{\"a\":1}," + time)),
              "operations[0].Update.value: " + misplaced);
}

TEST(segment, invalid_json_is_rejected) {
    const std::string good = encode_segment(operations{{kind::update, id, "p", "v", at}});
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_NE(fault_of(std::string_view(good).substr(0, size)), "none") << size;
    }
    for (const char* tail : {"x", "{}", "\0"}) {
        EXPECT_NE(fault_of(good + std::string(tail, 1)), "none");
    }
    EXPECT_NE(fault_of(update_with("\"uuid\":\"\\ud800\"")), "none");
    EXPECT_NE(fault_of("{\"operations\":[{\"\xFF\":{}}]}"), "none");
    EXPECT_NE(fault_of(std::string(1'000'000, '[')), "none");
    EXPECT_NE(fault_of("{\"operations\":[" + std::string(1'000'000, '{')), "none");
}

TEST(segment, is_limited) {
    const operations three(3, {kind::create, id, {}, {}, {}});
    const std::string json = encode_segment(three);
    EXPECT_EQ(fault_of(decode_segment(json, {.bytes_max = json.size(), .operations_max = 3})),
              "none");
    EXPECT_EQ(fault_of(decode_segment(json, {.operations_max = 2})),
              "operations: too many operations.");
    EXPECT_EQ(fault_of(decode_segment(json, {.bytes_max = json.size() - 1})),
              "The segment is too large.");
    const std::string name(100'000, 'n');
    EXPECT_LT(fault_of("{\"operations\":[{\"" + name + "\":{}}]}").size(), 200u);
}

// ---- snapshots ----

std::string packed(std::string_view json) {
    uLongf size = compressBound(json.size());
    std::string out(size, '\0');
    compress(reinterpret_cast<Bytef*>(out.data()), &size,
             reinterpret_cast<const Bytef*>(json.data()), json.size());
    out.resize(size);
    return out;
}

std::string fault_of(const decoded_snapshot& read) {
    const auto* fault = std::get_if<malformed>(&read);
    return fault ? fault->detail : "none";
}

std::string snapshot_fault(std::string_view json) {
    return fault_of(decode_snapshot(packed(json)));
}

TEST(snapshot, reads_what_it_writes) {
    task_map tasks;
    tasks[id] = {{"description", "Zażółć \"✓\"\n"}, {"status", "pending"}};
    tasks[uuid{}] = {};
    EXPECT_EQ(decode_snapshot(encode_snapshot(tasks)), decoded_snapshot(tasks));
    EXPECT_EQ(decode_snapshot(encode_snapshot({})), decoded_snapshot(task_map{}));
    EXPECT_EQ(encode_snapshot({}), packed("{}"));
}

TEST(snapshot, an_invalid_one_is_rejected_with_position_and_reason) {
    const std::string u = to_string(id);
    const std::string misplaced = "unexpected type of value.";
    EXPECT_EQ(snapshot_fault("{\"" + u + "\":{\"a\":\"b\"}}"), "none");
    EXPECT_EQ(snapshot_fault("[]"), misplaced);
    EXPECT_EQ(snapshot_fault("\"x\""), misplaced);
    EXPECT_EQ(snapshot_fault("{\"1\":{}}"), "a task's name must be a UUID.");
    EXPECT_EQ(snapshot_fault("{\"" + u + "\":null}"), u + ": " + misplaced);
    EXPECT_EQ(snapshot_fault("{\"" + u + "\":\"x\"}"), u + ": " + misplaced);
    EXPECT_EQ(snapshot_fault("{\"" + u + "\":{\"a\":null}}"), u + ".a: " + misplaced);
    EXPECT_EQ(snapshot_fault("{\"" + u + "\":{\"a\":{}}}"), u + ".a: " + misplaced);
    EXPECT_EQ(snapshot_fault("{\"" + u + "\":{\"a\":[]}}"), u + ".a: " + misplaced);
    EXPECT_EQ(snapshot_fault("{\"" + u + "\":{\"a\":1}}"), u + ".a: " + misplaced);
    EXPECT_EQ(snapshot_fault("{\"" + u + "\":{},\"" + u + "\":{}}"), u + ": duplicate task.");
    EXPECT_EQ(snapshot_fault("{\"" + u + "\":{\"a\":\"1\",\"b\":\"\",\"a\":\"2\"}}"),
              u + ": \"a\" is given twice.");
    EXPECT_NE(snapshot_fault("{\"" + u + "\":{\"a\":\"b\"}"), "none");
    EXPECT_NE(snapshot_fault(""), "none");
    EXPECT_NE(snapshot_fault("{}x"), "none");
}

TEST(snapshot, other_data_than_one_sound_stream_is_rejected) {
    const std::string good = packed("{}");
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_EQ(fault_of(decode_snapshot(std::string_view(good).substr(0, size))),
                  "The snapshot's zlib stream ends too early.");
    }
    EXPECT_EQ(fault_of(decode_snapshot("{}")), "The snapshot is not a valid zlib stream.");
    EXPECT_EQ(fault_of(decode_snapshot(good + "x")),
              "Unexpected data follows the snapshot's zlib stream.");
    std::string damaged = good;
    damaged.back() = static_cast<char>(damaged.back() ^ 1);
    EXPECT_EQ(fault_of(decode_snapshot(damaged)), "The snapshot is not a valid zlib stream.");
}

TEST(snapshot, is_limited) {
    task_map tasks;
    tasks[id] = {{"a", std::string(50'000, 'x')}};
    tasks[uuid{}] = {};
    const std::string all = encode_snapshot(tasks);
    const std::size_t size = 50'000 + 2 * 36 + std::string("{\"\":{},\"\":{\"a\":\"\"}}").size();
    const snapshot_limits just{.packed_bytes_max = all.size(), .bytes_max = size, .tasks_max = 2};
    EXPECT_EQ(fault_of(decode_snapshot(all, just)), "none");
    snapshot_limits less = just;
    less.packed_bytes_max -= 1;
    EXPECT_EQ(fault_of(decode_snapshot(all, less)), "The snapshot is too large.");
    less = just;
    less.bytes_max -= 1;
    EXPECT_EQ(fault_of(decode_snapshot(all, less)), "The snapshot is too large when inflated.");
    less = just;
    less.tasks_max = 1;
    EXPECT_EQ(fault_of(decode_snapshot(all, less)), to_string(id) + ": too many tasks.");
    // A few kilobytes that decompress to as many megabytes.
    const std::string bomb = packed(std::string(20'000'000, ' '));
    EXPECT_EQ(fault_of(decode_snapshot(bomb, {.bytes_max = 1'000'000})),
              "The snapshot is too large when inflated.");
}

// ---- random segments and snapshots ----

rc::Gen<std::string> any_string() {
    return rc::gen::map(
        rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
            "a", "\"", "\\", "\n", std::string("\0", 1), "\x1f", "ż", "✓", "\U0001F600", "/", " ")),
        [](const std::vector<std::string>& parts) {
            std::string text;
            for (const std::string& part : parts) text += part;
            return text;
        });
}

uuid any_uuid() {
    uuid drawn{};
    for (auto& byte : drawn) byte = *rc::gen::arbitrary<std::uint8_t>();
    return drawn;
}

RC_GTEST_PROP(segment, reads_what_it_writes, ()) {
    operations all;
    const int size = *rc::gen::inRange(0, 20);
    for (int i = 0; i < size; ++i) {
        operation o{
            *rc::gen::element(kind::create, kind::remove, kind::update), any_uuid(), {}, {}, {}};
        if (o.kind == kind::update) {
            o.property = *any_string();
            if (*rc::gen::arbitrary<bool>()) o.value = *any_string();
            o.at = precise_time{std::chrono::nanoseconds{*rc::gen::inRange<std::int64_t>(
                -9'200'000'000'000'000'000, 9'200'000'000'000'000'000)}};
        }
        all.push_back(std::move(o));
    }
    const std::string json = encode_segment(all);
    RC_ASSERT(decode_segment(json) == decoded_segment(all));
    // Boost.JSON's document reader verifies the output independently.
    RC_ASSERT(boost::json::parse(json).at("operations").as_array().size() == all.size());
}

RC_GTEST_PROP(snapshot, reads_any_it_writes, ()) {
    task_map tasks;
    const int size = *rc::gen::inRange(0, 10);
    for (int i = 0; i < size; ++i) {
        attributes& properties = tasks[any_uuid()];
        const int count = *rc::gen::inRange(0, 10);
        for (int j = 0; j < count; ++j) properties[*any_string()] = *any_string();
    }
    RC_ASSERT(decode_snapshot(encode_snapshot(tasks)) == decoded_snapshot(tasks));
}

}  // namespace
}  // namespace callsign::wire
