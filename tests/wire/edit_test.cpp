// The meaning of an edit in both forms. message_test.cpp tests how null and absent differ in JSON.

#include <callsign/wire/convert.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace callsign::wire {
namespace {

using changes = std::vector<std::pair<std::string, std::optional<std::string>>>;

std::optional<decoded_edit> read_edit(std::string_view json, field_errors& found) {
    v1::EditTask m;
    decode(format::json, json, m, found);
    return to_domain(m, found);
}

decoded_edit read_edit(std::string_view json) {
    field_errors found;
    auto out = read_edit(json, found);
    EXPECT_TRUE(out) << found.at(0).field << ": " << found.at(0).detail;
    std::sort(out->changes.begin(), out->changes.end());
    return std::move(out).value();
}

void expect_edit_fault(std::string_view json, std::string_view field, std::string_view code) {
    field_errors found;
    EXPECT_FALSE(read_edit(json, found)) << json;
    ASSERT_EQ(found.size(), 1u) << json;
    EXPECT_EQ(found[0].field, field) << json;
    EXPECT_EQ(found[0].code, code) << json;
}

TEST(edit_to_domain, makes_changes_of_the_map) {
    const decoded_edit e = read_edit(R"({
        "description": "New", "project": null, "status": "completed", "priority": "L",
        "due": "2026-11-20T12:48:00Z", "wait": null, "tags": ["b", "a", "b"],
        "annotations": [{"entry": "2026-11-20T12:48:00Z", "description": "one"},
                        {"entry": "2026-11-20T12:48:00Z", "description": "two"}],
        "attributes": {"estimate": "3h", "other": null, "fooBar": null}})");
    EXPECT_EQ(e.changes, (changes{{"annotation_1795178880", "one"},
                                  {"annotation_1795178881", "two"},
                                  {"description", "New"},
                                  {"due", "1795178880"},
                                  {"estimate", "3h"},
                                  {"fooBar", std::nullopt},
                                  {"other", std::nullopt},
                                  {"priority", "L"},
                                  {"project", std::nullopt},
                                  {"status", "completed"},
                                  {"tag_a", ""},
                                  {"tag_b", ""},
                                  {"tags", std::nullopt},
                                  {"wait", std::nullopt}}));
    EXPECT_EQ(e.replaced, (std::vector<std::string>{"tag_", "annotation_"}));
    EXPECT_FALSE(e.depends);
}

TEST(edit_to_domain, instants_and_recurrence_have_fields) {
    const decoded_edit e = read_edit(R"({"scheduled": "2026-11-20T12:48:00Z", "until": null,
        "start": null, "end": "2026-11-20T12:48:00Z", "entry": "2026-11-20T12:48:00Z",
        "recur": "3d", "attributes": {"x": "y"}})");
    EXPECT_EQ(e.changes, (changes{{"end", "1795178880"},
                                  {"entry", "1795178880"},
                                  {"recur", "3d"},
                                  {"scheduled", "1795178880"},
                                  {"start", std::nullopt},
                                  {"until", std::nullopt},
                                  {"x", "y"}}));
    EXPECT_EQ(read_edit(R"({"recur": null})").changes, (changes{{"recur", std::nullopt}}));
    expect_edit_fault(R"({"entry": null})", "entry", "required");
    expect_edit_fault(R"({"recur": ""})", "recur", "required");
    expect_edit_fault(R"({"modified": "2026-11-20T12:48:00Z"})", "modified", "unknown-field");
    expect_edit_fault(R"({"start": "1970-01-01T00:00:00Z"})", "start", "invalid");
    expect_edit_fault(R"({"start": "2026-11-20T12:48:00Z", "attributes": {"start": null}})",
                      "attributes.start", "invalid");
}

TEST(edit_to_domain, an_absent_list_is_left_and_an_empty_one_replaces) {
    const decoded_edit none = read_edit("{}");
    EXPECT_TRUE(none.changes.empty() && none.replaced.empty() && !none.depends);
    const decoded_edit given = read_edit(R"({"depends": ["syn-2", "SYN-2"]})");
    ASSERT_TRUE(given.depends);
    EXPECT_EQ(given.depends->size(), 1u);
    EXPECT_EQ(given.replaced, std::vector<std::string>{"dep_"});
    for (const char* json : {R"({"depends": [], "tags": [], "annotations": []})",
                             R"({"depends": null, "tags": null, "annotations": null})"}) {
        auto replaced = read_edit(json).replaced;
        std::sort(replaced.begin(), replaced.end());
        EXPECT_EQ(replaced, (std::vector<std::string>{"annotation_", "dep_", "tag_"})) << json;
    }
}

TEST(edit_to_domain, reports_each_error) {
    expect_edit_fault(R"({"description": null})", "description", "required");
    expect_edit_fault(R"({"description": ""})", "description", "required");
    expect_edit_fault(R"({"description": 1})", "description", "wrong-type");
    expect_edit_fault(R"({"status": null})", "status", "required");
    expect_edit_fault(R"({"status": "waiting"})", "status", "invalid");
    expect_edit_fault(R"({"project": ""})", "project", "required");
    expect_edit_fault(R"({"priority": "a\nb"})", "priority", "invalid");
    expect_edit_fault(R"({"tags": ["ok", "not ok"]})", "tags[1]", "invalid");
    expect_edit_fault(R"({"tags": ["a\"b"]})", "tags[0]", "invalid");
    expect_edit_fault(R"({"attributes": {"imask": "x"}})", "attributes.imask", "invalid");
    expect_edit_fault(R"({"depends": ["SYN"]})", "depends[0]", "malformed-task-ref");
    expect_edit_fault(R"({"annotations": [{"description": "b"}]})", "annotations[0].entry",
                      "required");
    expect_edit_fault(R"({"attributes": null})", "attributes", "invalid");
    expect_edit_fault(R"({"attributes": {"Estimate": "1"}})", "attributes.Estimate", "malformed");
    for (const char* owned : {"key", "status", "tag_x", "dep_x", "annotation_1", "entry"}) {
        for (const char* value : {"\"1\"", "null"}) {
            expect_edit_fault(std::string(R"({"attributes": {")") + owned + "\": " + value + "}}",
                              std::string("attributes.") + owned, "invalid");
        }
    }
    field_errors all;
    EXPECT_FALSE(
        read_edit(R"({"description": null, "nope": 1, "status": "x", "tags": [""]})", all));
    EXPECT_EQ(all.size(), 4u);
}

TEST(edit_to_domain, reads_the_protobuf_form_alike) {
    v1::EditTask m;
    m.set_status("pending");
    m.mutable_tags()->add_values("a");
    m.mutable_annotations();
    (*m.mutable_attributes())["estimate"] = "3h";
    for (const char* name : {"due", "attributes.x", "due", "depends"}) m.add_clear(name);
    field_errors found;
    auto e = to_domain(m, found);
    ASSERT_TRUE(e) << found.at(0).field;
    const decoded_edit same = read_edit(R"({"status": "pending", "tags": ["a"], "annotations": [],
        "attributes": {"estimate": "3h", "x": null}, "due": null, "depends": null})");
    std::sort(e->changes.begin(), e->changes.end());
    EXPECT_EQ(e->changes, same.changes);
    EXPECT_EQ(std::set(e->replaced.begin(), e->replaced.end()),
              std::set(same.replaced.begin(), same.replaced.end()));
}

TEST(edit_to_domain, reports_errors_that_only_protobuf_can_express) {
    v1::EditTask m;
    m.set_project("p");
    (*m.mutable_attributes())["x"] = "y";
    for (const char* name : {"project", "attributes.x", "uuid", "attributes.key"}) {
        m.add_clear(name);
    }
    field_errors found;
    EXPECT_FALSE(to_domain(m, found));
    std::vector<std::string> fields;
    for (const field_error& f : found) fields.push_back(f.field + " " + f.code);
    EXPECT_EQ(fields, (std::vector<std::string>{"project invalid", "attributes.x invalid",
                                                "uuid unknown-field", "attributes.key invalid"}));
}

TEST(edit_to_domain, enforces_its_limits) {
    v1::EditTask m;
    for (int i = 0; i < 50; ++i) (*m.mutable_attributes())["a" + std::to_string(i)] = "v";
    for (int i = 0; i < 50; ++i) m.add_clear("attributes.b" + std::to_string(i));
    field_errors found;
    EXPECT_TRUE(to_domain(m, found));
    m.add_clear("attributes.c");
    for (int i = 0; i < 101; ++i) m.mutable_tags()->add_values("t" + std::to_string(i));
    EXPECT_FALSE(to_domain(m, found));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].field + " " + found[0].code, "attributes too-many");
    EXPECT_EQ(found[1].field + " " + found[1].code, "tags too-many");
}

}  // namespace
}  // namespace callsign::wire
