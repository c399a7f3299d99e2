#include "callsign/v1/callsign.pb.h"

#include <callsign/wire/message.hpp>

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <memory>

namespace callsign::wire {
namespace {

field_errors faults_of(std::string_view json, google::protobuf::Message&& into) {
    field_errors found;
    EXPECT_FALSE(decode(format::json, json, into, found)) << json;
    return found;
}

field_errors faults_of(std::string_view json) {
    return faults_of(json, v1::CreateTask());
}

void expect_form_fault(std::string_view json, std::string_view field, std::string_view code) {
    const field_errors found = faults_of(json);
    ASSERT_EQ(found.size(), 1u) << json;
    EXPECT_EQ(found[0].field, field) << json;
    EXPECT_EQ(found[0].code, code) << json;
    EXPECT_FALSE(found[0].detail.empty());
}

TEST(json_read, fills_every_kind_of_field) {
    v1::CreateTask m;
    field_errors found;
    const std::string_view json = R"( {
        "description": "Call \"them\"\n\u00e9\ud83d\ude00", "tags": ["a", "b"], "project": null,
        "due": "2026-11-20T13:48:00.250+01:00",
        "annotations": [{"entry": "2026-11-20T12:48:00Z", "description": "x"}, {}],
        "attributes": {"estimate": "3h", "ref": ""}
    } )";
    ASSERT_TRUE(decode(format::json, json, m, found)) << found[0].detail;
    EXPECT_EQ(m.description(), "Call \"them\"\n\xC3\xA9\xF0\x9F\x98\x80");
    ASSERT_EQ(m.tags_size(), 2);
    EXPECT_EQ(m.tags(1), "b");
    EXPECT_EQ(m.due().seconds(), 1'795'178'880);
    EXPECT_EQ(m.due().nanos(), 250'000'000);
    EXPECT_FALSE(m.has_wait());
    ASSERT_EQ(m.annotations_size(), 2);
    EXPECT_EQ(m.annotations(0).entry().seconds(), 1'795'178'880);
    EXPECT_EQ(m.annotations(0).description(), "x");
    EXPECT_EQ(m.attributes().size(), 2u);
    EXPECT_EQ(m.attributes().at("estimate"), "3h");
}

// ---- canonical JSON ----

using google::protobuf::FieldDescriptor;

// Sets every field, those of nested messages too.
void fill(google::protobuf::Message& m, int depth = 0) {
    const auto& access = *m.GetReflection();
    const auto& type = *m.GetDescriptor();
    if (&type == google::protobuf::Timestamp::descriptor()) {
        auto& at = dynamic_cast<google::protobuf::Timestamp&>(m);
        at.set_seconds(1'795'178'880);
        at.set_nanos(250'000'000);
        return;
    }
    for (int i = 0; i < type.field_count(); ++i) {
        const auto* f = type.field(i);
        if (f->containing_oneof() && f->index_in_oneof() > 0) continue;
        if (f->is_map()) {
            auto& entry = *access.AddMessage(&m, f);
            const auto& each = *entry.GetReflection();
            each.SetString(&entry, f->message_type()->map_key(), "k");
            each.SetString(&entry, f->message_type()->map_value(), "v");
        } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
            if (depth == 5) continue;
            fill(f->is_repeated() ? *access.AddMessage(&m, f) : *access.MutableMessage(&m, f),
                 depth + 1);
        } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
            f->is_repeated() ? access.AddString(&m, f, "s") : access.SetString(&m, f, "s");
        } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
            access.SetInt64(&m, f, 3'000'000'000);
        } else {
            access.SetBool(&m, f, true);
        }
    }
}

TEST(json_read, takes_the_canonical_json_of_every_message) {
    const auto& file = *v1::CreateTask::descriptor()->file();
    ASSERT_GT(file.message_type_count(), 50);
    for (int i = 0; i < file.message_type_count(); ++i) {
        const auto* type = file.message_type(i);
        const auto* prototype =
            google::protobuf::MessageFactory::generated_factory()->GetPrototype(type);
        const std::unique_ptr<google::protobuf::Message> given(prototype->New());
        const std::unique_ptr<google::protobuf::Message> read(prototype->New());
        fill(*given);
        std::string json;
        ASSERT_TRUE(google::protobuf::util::MessageToJsonString(*given, &json).ok());
        field_errors found;
        EXPECT_TRUE(decode(format::json, json, *read, found))
            << type->name() << ": " << found.at(0).field << ": " << found[0].detail << json;
        EXPECT_EQ(encode(format::protobuf, *read), encode(format::protobuf, *given))
            << type->name();
        // Our own form, too.
        read->Clear();
        found.clear();
        EXPECT_TRUE(decode(format::json, encode(format::json, *given), *read, found))
            << type->name() << ": " << encode(format::json, *given);
    }
}

// ---- merge patches ----

v1::EditTask edit_of(std::string_view json) {
    v1::EditTask m;
    field_errors found;
    EXPECT_TRUE(decode(format::json, json, m, found)) << found.at(0).detail;
    return m;
}

TEST(json_read, distinguishes_null_from_absent_in_a_merge_patch) {
    const auto m = edit_of(R"({"project": null, "due": null, "tags": null, "priority": "",
                               "attributes": {"a": null, "b": "", "c.d": null}})");
    EXPECT_EQ(
        std::vector<std::string>(m.clear().begin(), m.clear().end()),
        (std::vector<std::string>{"project", "due", "tags", "attributes.a", "attributes.c.d"}));
    EXPECT_FALSE(m.has_project() || m.has_due() || m.has_tags() || m.has_wait());
    EXPECT_TRUE(m.has_priority());
    EXPECT_EQ(m.attributes().size(), 1u);
    EXPECT_EQ(m.attributes().at("b"), "");
    EXPECT_EQ(edit_of("{}").ByteSizeLong(), 0u);
}

TEST(json_read, distinguishes_an_empty_list_from_an_absent_one) {
    const auto m = edit_of(R"({"tags": [], "annotations": [{"description": "x"}]})");
    EXPECT_TRUE(m.has_tags());
    EXPECT_EQ(m.tags().values_size(), 0);
    EXPECT_FALSE(m.has_depends());
    ASSERT_EQ(m.annotations().values_size(), 1);
    EXPECT_EQ(m.annotations().values(0).description(), "x");
}

TEST(json_read, reports_errors_of_a_merge_patch) {
    const auto expect = [](std::string_view json, std::string_view field, std::string_view code) {
        const field_errors found = faults_of(json, v1::EditTask());
        ASSERT_EQ(found.size(), 1u) << json;
        EXPECT_EQ(found[0].field, field) << json;
        EXPECT_EQ(found[0].code, code) << json;
    };
    expect(R"({"clear": "project"})", "clear", "wrong-type");
    expect(R"({"uuid": "x"})", "uuid", "unknown-field");
    expect(R"({"projct": null})", "projct", "unknown-field");
    expect(R"({"project": null, "project": null})", "project", "duplicate-field");
    expect(R"({"attributes": {"a": null, "a": "b"}})", "attributes.a", "duplicate-field");
    expect(R"({"tags": "a"})", "tags", "wrong-type");
    expect(R"({"tags": {"values": "a"}})", "tags.values", "wrong-type");
    expect(R"({"tags": {"values": null}})", "tags.values", "wrong-type");
    expect(R"({"tags": {}})", "tags", "wrong-type");
    expect(R"({"tags": ["a", null]})", "tags[1]", "wrong-type");
    expect(R"({"tags": [["a"]]})", "tags[0]", "wrong-type");
    expect(R"({"annotations": [{"entyr": 1}]})", "annotations[0].entyr", "unknown-field");
    EXPECT_EQ(faults_of(R"({"tags": 7})", v1::EditTask())[0].detail, "Must be an array.");
    EXPECT_EQ(faults_of(R"({"tags": {"size": 1}})", v1::EditTask()),
              (field_errors{{"tags.size", "unknown-field", "Unknown field."},
                            {"tags", "wrong-type", "Must be an array."}}));
}

TEST(json_write, writes_a_merge_patch_as_it_is_read) {
    const std::string json =
        R"({"description":"x","project":null,"tags":[],"status":"completed","depends":["SYN-1"],)"
        R"("annotations":[{"entry":"2026-11-20T12:48:00.000Z","description":"y"}],)"
        R"("attributes":{"a":"1","b":null}})";
    EXPECT_EQ(encode(format::json, edit_of(json)), json);
    EXPECT_EQ(encode(format::json, edit_of("{}")), "{}");
}

TEST(json_read, names_what_is_unknown) {
    expect_form_fault(R"({"descripton": "x"})", "descripton", "unknown-field");
    expect_form_fault(R"({"created_at": 1})", "created_at", "unknown-field");
    expect_form_fault(R"({"annotations": [{}, {"entyr": {"a": [1, {}]}}]})", "annotations[1].entyr",
                      "unknown-field");
}

// Names beyond the limit are not stored; one error reports them for the map, and reading continues.
TEST(json_read, stores_no_more_of_a_map_than_its_limit) {
    const auto with = [](int entries) {
        std::string json = R"({"attributes": {)";
        for (int n = 0; n < entries; ++n) json += "\"a" + std::to_string(n) + R"(": "x", )";
        return json + R"("a0": "x"}, "descripton": "x"})";
    };
    v1::CreateTask m;
    field_errors found;
    EXPECT_FALSE(decode(format::json, with(10'000), m, found));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].field, "attributes.a0");
    EXPECT_EQ(found[0].code, "duplicate-field");
    EXPECT_EQ(found[1].field, "descripton");

    m.Clear();
    found.clear();
    EXPECT_FALSE(decode(format::json, with(40'000), m, found));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].field, "attributes");
    EXPECT_EQ(found[0].code, "too-many");
    EXPECT_EQ(found[1].field, "descripton");
    EXPECT_EQ(m.attributes_size(), 10'000u);
}

TEST(json_read, names_what_comes_twice) {
    expect_form_fault(R"({"description": "a", "description": "b"})", "description",
                      "duplicate-field");
    expect_form_fault(R"({"description": "a", "\u0064escription": "b"})", "description",
                      "duplicate-field");
    expect_form_fault(R"({"attributes": {"a": "1", "b": "2", "a": "3"}})", "attributes.a",
                      "duplicate-field");
    expect_form_fault(R"({"project": null, "project": "b"})", "project", "duplicate-field");
}

TEST(json_read, names_what_has_the_wrong_type) {
    expect_form_fault(R"({"description": 1})", "description", "wrong-type");
    expect_form_fault(R"({"description": ["a"]})", "description", "wrong-type");
    expect_form_fault(R"({"description": {"a": {"b": []}}})", "description", "wrong-type");
    expect_form_fault(R"({"tags": "a"})", "tags", "wrong-type");
    expect_form_fault(R"({"tags": ["a", null]})", "tags[1]", "wrong-type");
    expect_form_fault(R"({"tags": ["a", ["b"], "c"]})", "tags[1]", "wrong-type");
    expect_form_fault(R"({"due": 1795178880})", "due", "wrong-type");
    expect_form_fault(R"({"due": {"seconds": 1}})", "due", "wrong-type");
    expect_form_fault(R"({"due": "tomorrow"})", "due", "malformed");
    expect_form_fault(R"({"annotations": {}})", "annotations", "wrong-type");
    expect_form_fault(R"({"annotations": [{}, 1]})", "annotations[1]", "wrong-type");
    expect_form_fault(R"({"annotations": [{"entry": true}]})", "annotations[0].entry",
                      "wrong-type");
    expect_form_fault(R"({"attributes": {"a": 1}})", "attributes.a", "wrong-type");
    expect_form_fault(R"({"attributes": {"a": {"b": "c"}}})", "attributes.a", "wrong-type");
    expect_form_fault(R"({"attributes": [["a", "b"]]})", "attributes", "wrong-type");
}

TEST(json_read, reports_every_error_at_once) {
    const field_errors found =
        faults_of(R"({"description": 1, "x": {}, "tags": ["a", 2, false], "due": "?"})");
    std::vector<std::string> fields;
    for (const field_error& f : found) fields.push_back(f.field);
    EXPECT_EQ(fields, (std::vector<std::string>{"description", "x", "tags[1]", "tags[2]", "due"}));
}

TEST(json_read, rejects_other_values_than_objects) {
    for (const char* root : {"[]", "[{\"a\": [1]}]", "1", "-1", "1.5", "\"a\"", "null", "true"}) {
        expect_form_fault(root, "", "wrong-type");
    }
}

TEST(json_read, rejects_invalid_json) {
    for (const char* text :
         {"", " ", "{", "{}x", "{} {}", "{'a': 1}", "{\"a\": }", "{\"description\": \"a\",}", "nul",
          "\xEF\xBB\xBF{}", "{\"description\": \"\xFF\"}", "{\"description\": \"\xC0\x80\"}",
          "{\"description\": \"\\ud800\"}", "{\"description\": \"a\nb\"}", "{/* */}"}) {
        const field_errors found = faults_of(text);
        ASSERT_FALSE(found.empty()) << text;
        EXPECT_EQ(found.back().field, "") << text;
        EXPECT_EQ(found.back().code, "malformed") << text;
    }
}

TEST(json_read, limits_nesting_and_errors) {
    const std::string deep = "{\"a\":" + std::string(100'000, '[');
    EXPECT_EQ(faults_of(deep).back().code, "malformed");

    std::string wide = "{\"a\":1";
    for (int i = 0; i < 100'000; ++i) wide += ",\"f" + std::to_string(i) + "\":1";
    EXPECT_EQ(faults_of(wide + "}").size(), 100u);

    const field_errors named = faults_of("{\"" + std::string(10'000, 'n') + "\": 1}");
    ASSERT_EQ(named.size(), 1u);
    EXPECT_LE(named[0].field.size(), 64u);
}

TEST(json_read, takes_whole_numbers_and_booleans) {
    v1::Receipt m;
    field_errors found;
    ASSERT_TRUE(decode(format::json, R"({"number": 9007199254740991, "seq": -1, "created": true})",
                       m, found));
    EXPECT_EQ(m.number(), 9'007'199'254'740'991);
    EXPECT_EQ(m.seq(), -1);
    EXPECT_TRUE(m.created());
    for (const char* bad :
         {R"({"number": 1.5})", R"({"number": 1e3})", R"({"number": 18446744073709551615})"}) {
        EXPECT_EQ(faults_of(bad, v1::Receipt())[0].code, "invalid") << bad;
    }
    for (const char* bad : {R"({"number": "1.0"})", R"({"number": ""})", R"({"number": " 1"})",
                            R"({"number": "9223372036854775808"})"}) {
        EXPECT_EQ(faults_of(bad, v1::Receipt())[0].code, "wrong-type") << bad;
    }
    EXPECT_EQ(faults_of(R"({"created": 1})", v1::Receipt())[0].code, "wrong-type");
}

TEST(json_write, leaves_out_defaults_but_numbers_and_booleans) {
    EXPECT_EQ(encode(format::json, v1::Receipt()), R"({"number":0,"seq":0,"created":false})");
    EXPECT_EQ(encode(format::json, v1::CreateTask()), "{}");
}

TEST(json_write, writes_every_kind_of_field) {
    v1::Task m;
    m.set_description("a\"b\\c\n\t\x01/\xC3\xA9");
    m.add_tags("x");
    m.add_tags("y");
    m.mutable_created_at()->set_seconds(1'795'178'880);
    m.mutable_created_at()->set_nanos(123'000'000);
    m.add_annotations()->set_description("n");
    m.add_annotations();
    (*m.mutable_attributes())["b"] = "2";
    (*m.mutable_attributes())["a"] = "1";
    EXPECT_EQ(encode(format::json, m),
              R"({"seq":0,"description":"a\"b\\c\n\t\u0001/é","tags":["x","y"],)"
              R"("annotations":[{"description":"n"},{}],"attributes":{"a":"1","b":"2"},)"
              R"("createdAt":"2026-11-20T12:48:00.123Z","number":0})");
}

// In a merge patch an absent field stays unchanged.
TEST(json_write, leaves_out_what_is_optional_and_not_set) {
    v1::EditSeries m;
    EXPECT_EQ(encode(format::json, m), "{}");
    m.set_next(0);
    m.set_archived(false);
    m.set_prefix("");
    EXPECT_EQ(encode(format::json, m), R"({"prefix":"","archived":false,"next":0})");
}

TEST(protobuf, rejects_unknown_fields_by_path) {
    v1::CreateTask m;
    m.add_annotations();
    m.add_annotations()
        ->GetReflection()
        ->MutableUnknownFields(m.mutable_annotations(1))
        ->AddVarint(77, 1);
    const std::string bytes = m.SerializeAsString();
    v1::CreateTask out;
    field_errors found;
    EXPECT_FALSE(decode(format::protobuf, bytes, out, found));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].field, "annotations[1].77");
    EXPECT_EQ(found[0].code, "unknown-field");
}

TEST(protobuf, rejects_malformed_input) {
    for (const std::string& bytes : {std::string("\x0A\x05"
                                                 "ab",
                                                 4),
                                     std::string("\x0A\x02\xFF\xFE", 4), std::string("\x0B")}) {
        v1::CreateTask out;
        field_errors found;
        EXPECT_FALSE(decode(format::protobuf, bytes, out, found));
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].code, "malformed");
    }
}

// The limit applies to values of any size, at any depth, in known and unknown fields.
TEST(body, has_a_limit_of_values_in_either_form) {
    const auto repeated = [](std::size_t times, std::string_view each) {
        std::string all;
        while (times-- > 0) all += each;
        return all;
    };
    const auto code_of = [](format from, const std::string& bytes, std::size_t bound) {
        v1::EditTasks m;
        field_errors found;
        decode(from, bytes, m, found, faults_max, bound);
        return found.empty() ? std::string() : found.back().code;
    };
    for (const std::string_view item : {"{}", R"({"task":{"tags":[]}})", R"({"ref":"x"})"}) {
        const std::string json =
            R"({"items":[)" + repeated(30, std::string(item) + ",") + std::string(item) + "]}";
        v1::EditTasks m;
        field_errors found;
        ASSERT_TRUE(decode(format::json, json, m, found));
        const std::size_t of_item = item == "{}" ? 1 : item.starts_with(R"({"r)") ? 2 : 3;
        const std::size_t in_protobuf = 31 * of_item, in_json = in_protobuf + 2;
        EXPECT_EQ(code_of(format::json, json, in_json), "") << item;
        EXPECT_EQ(code_of(format::json, json, in_json - 1), "too-many") << item;
        const std::string bytes = encode(format::protobuf, m);
        EXPECT_EQ(code_of(format::protobuf, bytes, in_protobuf), "") << item;
        if (in_protobuf - 1 < bytes.size() / 2) {
            EXPECT_EQ(code_of(format::protobuf, bytes, in_protobuf - 1), "too-many") << item;
        }
    }
    // Unknown fields, and a truncated one.
    const std::string unknown = repeated(40, std::string("\x98\x06\x01\x9A\x06\x00", 6));
    EXPECT_EQ(code_of(format::protobuf, unknown, 79), "too-many");
    EXPECT_EQ(code_of(format::protobuf, repeated(40, std::string("\x0A\x02\x0A", 3)), 20),
              "malformed");
    EXPECT_EQ(code_of(format::json, R"({"x":[)" + repeated(50, "1,") + "1]}", 20), "too-many");
}

TEST(protobuf, equal_messages_are_equal_bytes) {
    v1::Task a, b;
    for (int i = 0; i < 50; ++i) (*a.mutable_attributes())["k" + std::to_string(i)] = "v";
    for (int i = 49; i >= 0; --i) (*b.mutable_attributes())["k" + std::to_string(i)] = "v";
    EXPECT_EQ(encode(format::protobuf, a), encode(format::protobuf, b));
}

}  // namespace
}  // namespace callsign::wire
