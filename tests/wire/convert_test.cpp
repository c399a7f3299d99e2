#include <callsign/wire/convert.hpp>

#include <gtest/gtest.h>
#include <set>

namespace callsign::wire {
namespace {

std::optional<decoded_create> read_task(std::string_view json, field_errors& found) {
    v1::CreateTask m;
    decode(format::json, json, m, found);
    return to_domain(m, found);
}

decoded_create read_task(std::string_view json) {
    field_errors found;
    auto out = read_task(json, found);
    EXPECT_TRUE(out) << found.at(0).field << ": " << found.at(0).detail;
    return std::move(out).value();
}

void expect_task_fault(std::string_view json, std::string_view field, std::string_view code) {
    field_errors found;
    EXPECT_FALSE(read_task(json, found)) << json;
    ASSERT_EQ(found.size(), 1u) << json;
    EXPECT_EQ(found[0].field, field) << json;
    EXPECT_EQ(found[0].code, code) << json;
}

TEST(to_domain, makes_the_map_of_task_champion) {
    const decoded_create c = read_task(R"({
        "description": "Call them", "uuid": "01936A5E-7B2C-7000-8000-00000000000f",
        "prefix": "syn", "project": "Home", "tags": ["urgent", "phone"], "priority": "H",
        "due": "2026-11-20T12:48:00.9Z", "wait": "2026-11-20T12:47:00Z",
        "annotations": [{"entry": "2026-11-20T12:48:00Z", "description": "one"},
                        {"entry": "2026-11-20T12:48:00Z", "description": "two"}],
        "depends": ["syn-7", "SYN-7", "01936a5e-7b2c-7000-8000-000000000001"],
        "attributes": {"estimate": "3h"}})");
    EXPECT_EQ(c.uuid, parse_uuid("01936a5e-7b2c-7000-8000-00000000000f"));
    EXPECT_EQ(c.prefix, "SYN");
    const attributes expected{{"annotation_1795178880", "one"},
                              {"annotation_1795178881", "two"},
                              {"description", "Call them"},
                              {"due", "1795178880"},
                              {"estimate", "3h"},
                              {"priority", "H"},
                              {"project", "Home"},
                              {"status", "pending"},
                              {"tag_phone", ""},
                              {"tag_urgent", ""},
                              {"wait", "1795178820"}};
    EXPECT_EQ(c.attributes, expected);
    ASSERT_EQ(c.depends.size(), 2u);
    EXPECT_EQ(to_string(c.depends[0]), "01936a5e-7b2c-7000-8000-000000000001");
    EXPECT_EQ(to_string(c.depends[1]), "SYN-7");
}

TEST(to_domain, reports_each_error) {
    expect_task_fault(R"({})", "description", "required");
    expect_task_fault(R"({"description": ""})", "description", "required");
    expect_task_fault(R"({"description": "a\u0000b"})", "description", "invalid");
    expect_task_fault(R"({"description": "a\rb"})", "description", "invalid");
    expect_task_fault(R"({"description": "a", "uuid": "1"})", "uuid", "malformed");
    expect_task_fault(R"({"description": "a", "uuid": "00000000-0000-0000-0000-000000000000"})",
                      "uuid", "invalid");
    expect_task_fault(R"({"description": "a", "prefix": "2X"})", "prefix", "malformed");
    expect_task_fault(R"({"description": "a", "status": "deleted"})", "status", "invalid");
    expect_task_fault(R"({"description": "a", "project": "a\nb"})", "project", "invalid");
    expect_task_fault(R"({"description": "a", "tags": ["ok", "not ok"]})", "tags[1]", "invalid");
    expect_task_fault(R"({"description": "a", "tags": [""]})", "tags[0]", "required");
    expect_task_fault(R"({"description": "a", "tags": ["a\"b"]})", "tags[0]", "invalid");
    expect_task_fault(R"({"description": "a", "tags": ["a\\b"]})", "tags[0]", "invalid");
    expect_task_fault(R"({"description": "a", "depends": ["SYN-1", "SYN"]})", "depends[1]",
                      "malformed-task-ref");
    expect_task_fault(R"({"description": "a", "annotations": [{"description": "b"}]})",
                      "annotations[0].entry", "required");
    expect_task_fault(R"({"description": "a", "annotations": [{"entry": "2026-11-20T12:48:00Z"}]})",
                      "annotations[0].description", "required");
    expect_task_fault(R"({"description": "a", "attributes": {"Estimate": "1"}})",
                      "attributes.Estimate", "malformed");
    expect_task_fault(R"({"description": "a", "attributes": {"": "1"}})", "attributes.",
                      "malformed");
    for (const char* owned : {"status", "tag_x", "dep_x", "annotation_1", "entry", "modified"}) {
        expect_task_fault(
            std::string(R"({"description": "a", "attributes": {")") + owned + "\": \"1\"}}",
            std::string("attributes.") + owned, "invalid");
    }
    for (const char* exported_bare : {"id", "urgency", "imask", "last"}) {
        expect_task_fault(
            std::string(R"({"description": "a", "attributes": {")") + exported_bare + "\": \"x\"}}",
            std::string("attributes.") + exported_bare, "invalid");
    }
    expect_task_fault(R"({"description": "a", "uuid": "01936a5e-7b2c-7000-8000-000000000001",
                     "depends": ["01936a5e-7b2c-7000-8000-000000000001"]})",
                      "depends[0]", "invalid");
}

// Some instants have fields of their own; an attribute may carry them too, but not both at once.
TEST(to_domain, instants_among_the_attributes_are_instants) {
    for (const char* name : {"until", "scheduled", "start", "end"}) {
        const std::string before = R"({"description": "a", "attributes": {")" + std::string(name);
        for (const char* text :
             {"2026-11-20T12:48:00Z", "2026-11-20T13:48:00.9+01:00", "1795178880"}) {
            const decoded_create c = read_task(before + R"(": ")" + text + R"("}})");
            EXPECT_EQ(c.attributes.at(name), "1795178880") << text;
            task t;
            t.attributes = c.attributes;
            const std::string shown = encode(format::json, to_message(t));
            EXPECT_NE(shown.find("\"" + std::string(name) + R"(":"2026-11-20T12:48:00.000Z")"),
                      std::string::npos)
                << shown;
            EXPECT_EQ(to_message(t).attributes_size(), 0);
        }
        const std::string field = R"({"description": "a", ")" + std::string(name) + R"(": ")";
        EXPECT_EQ(read_task(field + R"(2026-11-20T12:48:00Z"})").attributes.at(name), "1795178880");
        expect_task_fault(
            field + R"(2026-11-20T12:48:00Z", "attributes": {")" + name + R"(": "1795178880"}})",
            std::string("attributes.") + name, "invalid");
        for (const char* text :
             {"", "tomorrow", "20261120T124800Z", "1795178880.5", "999999999999"}) {
            expect_task_fault(before + R"(": ")" + text + R"("}})",
                              std::string("attributes.") + name, "invalid");
        }
    }
}

TEST(to_domain, a_recurring_task_has_a_due_date_and_a_period) {
    const std::string start = R"({"description": "a", "status": "recurring")";
    const std::string due = R"(, "due": "2026-11-20T12:48:00Z")";
    const std::string often = R"(, "attributes": {"recur": "weekly"})";
    EXPECT_EQ(read_task(start + due + often + "}").attributes.at("status"), "recurring");
    expect_task_fault(start + often + "}", "due", "required");
    expect_task_fault(start + due + "}", "recur", "required");
    EXPECT_EQ(read_task(start + due + R"(, "recur": "weekly"})").attributes.at("recur"), "weekly");
    expect_task_fault(start + often + R"(, "due": "1970-01-01T00:00:00Z"})", "due", "invalid");
    // Taskwarrior would delete the task as soon as its only instance is completed.
    expect_task_fault(
        start + due + R"(, "attributes": {"recur": "weekly", "until": "2026-11-20T12:48:00Z"}})",
        "until", "invalid");
    for (const char* text : {"often", "0d", "1000d", "3", "1s", "12h", "P", "P1D2", "-1d", "01d"}) {
        expect_task_fault(start + due + R"(, "attributes": {"recur": ")" + text + R"("}})", "recur",
                          "invalid");
    }
}

// A field with an invalid value is not also reported as missing.
TEST(to_domain, reports_an_error_once) {
    expect_task_fault(R"({"description": 1})", "description", "wrong-type");
}

TEST(to_domain, enforces_its_limits) {
    v1::CreateTask m;
    m.set_description(std::string(65'536, 'd'));
    m.set_project(std::string(255, 'p'));
    for (int i = 0; i < 100; ++i) m.add_tags("t" + std::to_string(i));
    for (int i = 0; i < 100; ++i) m.add_depends("SYN-" + std::to_string(i));
    for (int i = 0; i < 100; ++i) (*m.mutable_attributes())["a" + std::to_string(i)] = "v";
    for (int i = 0; i < 100; ++i) {
        v1::Annotation& annotation = *m.add_annotations();
        annotation.mutable_entry()->set_seconds(1'000'000'000);
        annotation.set_description("same second");
    }
    field_errors found;
    const auto full = to_domain(m, found);
    ASSERT_TRUE(full) << found.at(0).field;
    EXPECT_EQ(full->attributes.size(), 303u);
    EXPECT_EQ(full->depends.size(), 100u);

    m.set_description(std::string(65'537, 'd'));
    m.set_project(std::string(256, 'p'));
    m.add_tags("more");
    m.add_depends("SYN-100");
    m.add_annotations();
    (*m.mutable_attributes())["more"] = "v";
    EXPECT_FALSE(to_domain(m, found));
    std::vector<std::string> fields;
    for (const field_error& f : found) fields.push_back(f.field + " " + f.code);
    EXPECT_EQ(fields, (std::vector<std::string>{"description too-long", "project too-long",
                                                "tags too-many", "depends too-many",
                                                "annotations too-many", "attributes too-many"}));
}

// Taskwarrior does not read instants before 1980 as instants, and then exports no task at all.
TEST(to_domain, rejects_instants_that_taskwarrior_cannot_represent) {
    const std::string start = R"({"description": "a", )";
    expect_task_fault(start + R"("due": "1979-12-31T23:59:59Z"})", "due", "invalid");
    expect_task_fault(start + R"("wait": "0001-01-01T00:00:00Z"})", "wait", "invalid");
    expect_task_fault(start + R"("wait": "9999-12-31T23:59:59Z"})", "wait", "invalid");
    expect_task_fault(start + R"("attributes": {"start": "86400"}})", "attributes.start",
                      "invalid");
    const std::string noted = start + R"("annotations": [{"description": "a", "entry": ")";
    expect_task_fault(noted + R"(2038-01-19T03:14:08Z"}]})", "annotations[0].entry", "invalid");
    EXPECT_EQ(
        read_task(noted + R"(2038-01-19T03:14:07Z"}]})").attributes.count("annotation_2147483647"),
        1u);
    EXPECT_EQ(read_task(start + R"("due": "1980-01-01T00:00:00Z"})").attributes.at("due"),
              "315532800");
}

TEST(to_domain, rejects_instants_that_timestamps_cannot_represent) {
    v1::CreateTask m;
    m.set_description("a");
    m.mutable_due()->set_seconds(253'402'300'800);
    m.mutable_wait()->set_nanos(-1);
    field_errors found;
    EXPECT_FALSE(to_domain(m, found));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].field, "due");
    EXPECT_EQ(found[1].field, "wait");
}

TEST(fingerprint, distinguishes_creations) {
    const char* different[] = {
        R"({"description": "a"})",
        R"({"description": "b"})",
        R"({"description": "a", "project": "a"})",
        R"({"description": "a", "prefix": "A"})",
        R"({"description": "a", "tags": ["a"]})",
        R"({"description": "a", "tags": ["a", "b"]})",
        R"({"description": "a", "depends": ["A-1"]})",
        R"({"description": "a", "depends": ["A-2"]})",
        R"({"description": "a", "uuid": "01936a5e-7b2c-7000-8000-000000000001"})",
        R"({"description": "a", "due": "2026-11-20T12:48:00Z"})",
        R"({"description": "a", "wait": "2026-11-20T12:48:00Z"})",
        R"({"description": "a", "status": "completed"})",
        R"({"description": "a", "attributes": {"ab": "c"}})",
        R"({"description": "a", "attributes": {"a": "bc"}})",
    };
    std::set<digest> prints;
    for (const char* json : different) prints.insert(read_task(json).fingerprint);
    EXPECT_EQ(prints.size(), std::size(different));
}

// Stored fingerprints are compared with those of later releases: the form must not change.
TEST(fingerprint, is_stable_across_releases) {
    EXPECT_EQ(
        to_hex(bytes_of(read_task(R"({"description": "Call them", "tags": ["x"]})").fingerprint)),
        "798fb8285298da1a3da9bca41976f781e55fedd4bc56fdb0e8722258b08b2f37");
}

TEST(to_message, receipt_is_what_the_contract_shows) {
    receipt r;
    r.uuid = parse_uuid("01936a5e-7b2c-7000-8000-00000000000f").value();
    r.prefix = "SYN";
    r.number = 42;
    r.seq = 7;
    r.created_at = parse_rfc3339("2026-11-20T12:48:00.123Z").value();
    EXPECT_EQ(encode(format::json, to_message(r)),
              R"({"uuid":"01936a5e-7b2c-7000-8000-00000000000f","key":"SYN-42","prefix":"SYN",)"
              R"("number":42,"seq":7,"createdAt":"2026-11-20T12:48:00.123Z","created":true})");
}

TEST(to_message, task_puts_each_attribute_in_its_field) {
    task t;
    t.uuid = parse_uuid("01936a5e-7b2c-7000-8000-00000000000f").value();
    t.numbered = receipt{t.uuid, "OLD", "2026", 42, 7, {}, true};
    t.current_prefix = "NEW";
    t.last_seq = 9;
    t.created_at = parse_rfc3339("2026-11-20T12:48:00Z").value();
    t.attributes = {{"annotation_1795178880", "one"},
                    {"annotation_x", "odd"},
                    {"dep_01936a5e-7b2c-7000-8000-000000000001", ""},
                    {"description", "Call them"},
                    {"due", "1795178880"},
                    {"entry", "1795178880"},
                    {"estimate", "3h"},
                    {"key", "NEW-2026-42"},
                    {"modified", "1795178880"},
                    {"status", "pending"},
                    {"tag_phone", ""},
                    {"wait", "someday"}};
    t.tag = {9, 0x0F3A9C2E};
    EXPECT_EQ(
        encode(format::json, to_message(t)),
        R"({"uuid":"01936a5e-7b2c-7000-8000-00000000000f","key":"NEW-2026-42","seq":9,)"
        R"("description":"Call them","status":"pending","tags":["phone"],)"
        R"("due":"2026-11-20T12:48:00.000Z","depends":["01936a5e-7b2c-7000-8000-000000000001"],)"
        R"("annotations":[{"entry":"2026-11-20T12:48:00.000Z","description":"one"}],)"
        R"("attributes":{"annotation_x":"odd","estimate":"3h","wait":"someday"},)"
        R"("createdAt":"2026-11-20T12:48:00.000Z","prefix":"NEW","period":"2026","number":42,)"
        R"("entry":"2026-11-20T12:48:00.000Z","modified":"2026-11-20T12:48:00.000Z",)"
        R"("etag":"\"9.0f3a9c2e\""})");
}

// The server writes task keys into the configured attribute only; otherwise `key` is an ordinary
// attribute.
TEST(to_message, the_key_is_in_its_attribute) {
    field_errors found;
    v1::CreateTask m;
    m.set_description("a");
    (*m.mutable_attributes())["key"] = "of the safe";
    const auto mine = to_domain(m, found, "ticket");
    ASSERT_TRUE(mine);
    EXPECT_EQ(mine->attributes.at("key"), "of the safe");
    EXPECT_TRUE(to_domain(m, found, ""));
    EXPECT_FALSE(to_domain(m, found, "key"));
    (*m.mutable_attributes())["ticket"] = "SYN-1";
    found.clear();
    EXPECT_FALSE(to_domain(m, found, "ticket"));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].field, "attributes.ticket");

    task t;
    t.numbered = receipt{{}, "SYN", "", 1, 1, {}, true};
    t.current_prefix = "SYN";
    t.attributes = {{"key", "of the safe"}, {"ticket", "SYN-1"}};
    EXPECT_EQ(to_message(t, "ticket").attributes().count("ticket"), 0u);
    EXPECT_EQ(to_message(t, "ticket").attributes().at("key"), "of the safe");
    EXPECT_EQ(to_message(t, "key").attributes().at("ticket"), "SYN-1");
    // The prefix was changed; then an attribute that a client has written.
    t.current_prefix = "BOARD";
    EXPECT_EQ(to_message(t, "ticket").attributes().count("ticket"), 0u);
    t.attributes["ticket"] = "SYN-2";
    EXPECT_EQ(to_message(t, "ticket").attributes().at("ticket"), "SYN-2");
}

TEST(to_message, other_nouns) {
    slot s;
    s.state = slot_state::failed;
    s.reason = failure_reason::window_passed;
    EXPECT_EQ(encode(format::json, to_message(s, std::nullopt)),
              R"({"state":"failed","uuid":"00000000-0000-0000-0000-000000000000",)"
              R"("reason":"window-passed","createdAt":"1970-01-01T00:00:00.000Z","attempts":1})");
    EXPECT_TRUE(to_message(s, receipt{}).has_receipt());
    series numbers;
    numbers.prefix = "SYN";
    numbers.is_default = true;
    numbers.last_number = 41;
    EXPECT_EQ(encode(format::json, to_message(numbers)),
              R"({"prefix":"SYN","reset":"never","timeZone":"UTC","next":42,"isDefault":true,)"
              R"("archived":false,"allowsGaps":false,"held":false})");
    account ada;
    ada.id = account_id{3};
    ada.name = "ada";
    ada.default_prefix = "SYN";
    ada.head.seq = 9;
    EXPECT_EQ(encode(format::json, to_message(ada)),
              R"({"accountId":"3","name":"ada","prefix":"SYN",)"
              R"("createdAt":"1970-01-01T00:00:00.000Z","seq":9,"mode":"managed","state":"active",)"
              R"("storedBytes":0})");
    EXPECT_EQ(encode(format::json,
                     to_message(token{{4}, {}, "ci", token_scope::write, {}, std::nullopt})),
              R"({"tokenId":"4","name":"ci","scope":"write",)"
              R"("createdAt":"1970-01-01T00:00:00.000Z"})");
}

}  // namespace
}  // namespace callsign::wire
