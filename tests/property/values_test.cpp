// Goal: every accepted value can be read back and harms no other request. Whatever a request's
// field contains, JSON and protobuf get the same response, never 5xx; every list can be read
// afterwards, another account's writes succeed, and the store is sound after a kill.
//
// Method: each route that takes a message, with a valid message; then the same message once for
// each field and each edge value of the field's type, in JSON by an independent writer and in
// protobuf, each form on a separate server on SQLite.

#include "callsign/v1/callsign.pb.h"
#include "disks.hpp"
#include "support/answer_json.hpp"
#include "support/audit.hpp"
#include "support/test_server.hpp"

#include <callsign/seal/key_ring.hpp>
#include <callsign/wire/message.hpp>

#include <boost/json.hpp>
#include <google/protobuf/util/time_util.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>

namespace callsign::testing {
namespace {

namespace json = boost::json;
using boost::beast::http::verb;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Timestamp;
using wire::format;

// ---- fields ----

bool has(const Message& message, const FieldDescriptor* f) {
    const auto& access = *message.GetReflection();
    return f->is_repeated() ? access.FieldSize(message, f) > 0 : access.HasField(message, f);
}

struct field_place {
    std::vector<const FieldDescriptor*> way;  // from the message to the one that contains the field
    const FieldDescriptor* leaf = nullptr;
    bool is_map_key = false;

    std::string name() const {
        std::string text;
        for (const auto* f : way) text += f->name() + ".";
        return text + leaf->name() + (is_map_key ? " (name)" : "");
    }
};

Message& message_at(Message& root, const field_place& place) {
    Message* at = &root;
    for (const auto* f : place.way) {
        at = f->is_repeated() ? at->GetReflection()->MutableRepeatedMessage(at, f, 0)
                              : at->GetReflection()->MutableMessage(at, f);
    }
    return *at;
}

// Collects all fields that are set, including those of nested messages.
void find_places(const Message& message, const std::vector<const FieldDescriptor*>& way,
                 std::vector<field_place>& out) {
    const auto& access = *message.GetReflection();
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
        const auto* f = message.GetDescriptor()->field(i);
        const bool is_message = f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
        if (f->is_map()) {
            out.push_back({way, f, true});
            out.push_back({way, f, false});
        } else if (!is_message || f->message_type() == Timestamp::descriptor()) {
            out.push_back({way, f});
        } else if (has(message, f)) {
            auto further = way;
            further.push_back(f);
            find_places(f->is_repeated() ? access.GetRepeatedMessage(message, f, 0)
                                         : access.GetMessage(message, f),
                        further, out);
        }
    }
}

// ---- values ----

struct edge {
    std::string text;
    std::int64_t number = 0;
    std::int32_t nanos = 0;
};

using namespace std::string_view_literals;
constexpr std::string_view texts[] = {
    // clang-format off
    ""sv, "a"sv, "A1"sv, " "sv, "\0"sv, "a\0b"sv, "\n"sv, "a\tb"sv, "\x01"sv, "\x7f"sv, "\""sv,
    "\\"sv, "a,b"sv, "a b"sv, "-1"sv, "0"sv, "999999999999"sv, "1e400"sv, "NaN"sv, "true"sv,
    "null"sv, "\xff"sv, "\xc0\x80"sv, "\xed\xa0\x80"sv, "\xf4\x90\x80\x80"sv, "\xe2\x80\xa8"sv,
    "\xef\xbb\xbf"sv, "\xef\xbf\xbf"sv, "\xf0\x9f\x92\xa5"sv, "\xc3\xa9"sv, "e\xcc\x81"sv, "../x"sv,
    "%00"sv, "SYN-1"sv, "SYN-0"sv, "SYN-99999999999999999999"sv,
    "00000000-0000-0000-0000-000000000000"sv, "ffffffff-ffff-ffff-ffff-ffffffffffff"sv,
    "0000-01-01T00:00:00Z"sv, "9999-12-31T23:59:59Z"sv, "-62135596800"sv, "253402300800"sv,
    "Europe/Berlin"sv, "status"sv, "tag_x"sv, "dep_x"sv, "annotation_x"sv, "uuid"sv, "id"sv,
    "key"sv, "entry"sv, "http://127.0.0.1:1/"sv, "daily"sv, "recurring"sv, "admin"sv, "opaque"sv,
    // clang-format on
};

std::vector<edge> edges_of(const field_place& place) {
    std::vector<edge> all;
    if (place.leaf->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) return {{{}, 1}, {{}, 0}};
    if (place.leaf->cpp_type() == FieldDescriptor::CPPTYPE_STRING || place.leaf->is_map()) {
        for (const std::string_view text : texts) {
            all.push_back({std::string(text)});
        }
        for (const std::size_t length : {63u, 64u, 255u, 256u, 1024u, 65'536u, 65'537u, 262'145u}) {
            all.push_back({std::string(length, 'x')});
        }
        return all;
    }
    for (const std::int64_t number :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{2'147'483'647},
          std::int64_t{315'532'800}, std::int64_t{1'700'000'000}, std::int64_t{4'102'444'800},
          std::int64_t{999'999'999'999}, std::int64_t{1'000'000'000'000},
          (std::int64_t{1} << 53) - 1, (std::int64_t{1} << 53) + 1, std::int64_t{-62'135'596'800},
          std::int64_t{-62'135'596'801}, std::int64_t{253'402'300'799},
          std::int64_t{253'402'300'800}, INT64_MAX, INT64_MIN}) {
        all.push_back({{}, number});
    }
    if (place.leaf->message_type() == Timestamp::descriptor()) {
        for (const std::int32_t nanos : {1, 999'999'999, 1'000'000'000, -1}) {
            all.push_back({{}, 1'700'000'000, nanos});
        }
    }
    return all;
}

void put(Message& root, const field_place& place, const edge& value) {
    Message& message = message_at(root, place);
    const auto& access = *message.GetReflection();
    const auto* f = place.leaf;
    if (f->is_repeated()) access.ClearField(&message, f);
    if (f->is_map()) {
        Message& entry = *access.AddMessage(&message, f);
        const auto& fields = *entry.GetReflection();
        const auto* type = f->message_type();
        fields.SetString(&entry, type->map_key(), place.is_map_key ? value.text : "note");
        fields.SetString(&entry, type->map_value(), place.is_map_key ? "x" : value.text);
    } else if (f->message_type() == Timestamp::descriptor()) {
        auto& stamp = static_cast<Timestamp&>(*access.MutableMessage(&message, f));
        stamp.set_seconds(value.number);
        stamp.set_nanos(value.nanos);
    } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        f->is_repeated() ? access.AddString(&message, f, value.text)
                         : access.SetString(&message, f, value.text);
    } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
        access.SetBool(&message, f, value.number != 0);
    } else {
        ASSERT_EQ(f->cpp_type(), FieldDescriptor::CPPTYPE_INT64) << f->full_name();
        access.SetInt64(&message, f, value.number);
    }
}

// ---- independent JSON writer ----

bool has_json(const field_place& place, const edge& value) {
    if (place.leaf->name() == "clear") return false;
    if (place.leaf->message_type() != Timestamp::descriptor()) return true;
    return value.nanos >= 0 && value.nanos < 1'000'000'000 &&
           value.number >= google::protobuf::util::TimeUtil::kTimestampMinSeconds &&
           value.number <= google::protobuf::util::TimeUtil::kTimestampMaxSeconds;
}

// Serializes the fields that are set; `forced` of `owner` also if it has its default value.
json::value json_of(const Message& message, const Message* owner, const FieldDescriptor* forced) {
    const auto& access = *message.GetReflection();
    const auto* type = message.GetDescriptor();
    if (type == Timestamp::descriptor()) {
        auto text =
            google::protobuf::util::TimeUtil::ToString(static_cast<const Timestamp&>(message));
        if (text.size() == std::size("2000-01-01T00:00:00Z") - 1) text.insert(19, ".000");
        return json::value(text);
    }
    const auto value_of = [&](const FieldDescriptor* f, int i) -> json::value {
        switch (f->cpp_type()) {
        case FieldDescriptor::CPPTYPE_STRING:
            return json::value(f->is_repeated() ? access.GetRepeatedString(message, f, i)
                                                : access.GetString(message, f));
        case FieldDescriptor::CPPTYPE_BOOL: return json::value(access.GetBool(message, f));
        case FieldDescriptor::CPPTYPE_INT64: return json::value(access.GetInt64(message, f));
        default:
            return json_of(f->is_repeated() ? access.GetRepeatedMessage(message, f, i)
                                            : access.GetMessage(message, f),
                           owner, forced);
        }
    };
    const auto list_of = [&](const FieldDescriptor* f) {
        json::array list;
        for (int i = 0; i < access.FieldSize(message, f); ++i) list.push_back(value_of(f, i));
        return list;
    };
    if (type->field_count() == 1 && type->field(0)->name() == "values") {
        return list_of(type->field(0));
    }
    json::object all;
    for (int i = 0; i < type->field_count(); ++i) {
        const auto* f = type->field(i);
        if (!has(message, f) && !(&message == owner && f == forced)) continue;
        if (f->is_map()) {
            json::object entries;
            for (int e = 0; e < access.FieldSize(message, f); ++e) {
                const Message& entry = access.GetRepeatedMessage(message, f, e);
                const auto& fields = *entry.GetReflection();
                entries[fields.GetString(entry, f->message_type()->map_key())] =
                    fields.GetString(entry, f->message_type()->map_value());
            }
            all[f->json_name()] = std::move(entries);
        } else {
            all[f->json_name()] = f->is_repeated() ? json::value(list_of(f)) : value_of(f, 0);
        }
    }
    return all;
}

// ---- the routes ----

constexpr std::uint8_t master_bytes[32] = {7};

// A separate server, and the objects that requests name.
struct values_world {
    values_world() {
        test_server_options options;
        options.disk = &disk.open();
        options.clock = &clock;
        options.service.master_key =
            std::make_shared<const seal::key_ring>(seal::key(master_bytes));
        h.emplace(std::move(options));
        root = h->operator_token();
        other = h->make_account("other", "OTH").token;
    }

    sqlite_disk disk;
    virtual_clock clock;
    std::optional<test_server> h;
    std::string root, other;
    std::string account, token, task, webhook;
    int accounts = 0, keys = 0, names = 0;

    void new_account() {
        account = "a" + std::to_string(++accounts);
        const auto made = h->make_account(account, "SYN");
        token = h->make_token(account, token_scope::admin);
        task = text_of(
            body_of(h->call(post("/v1/tasks", R"({"description":"it"})", token, "k0"))).at("uuid"));
        ASSERT_EQ(
            h->call(post("/v1/series", R"({"prefix":"OLD","allowsGaps":true})", token)).status,
            201u);
        const auto hook =
            h->call(post("/v1/webhooks", R"({"url":"https://hooks.example/x"})", token));
        ASSERT_EQ(hook.status, 201u) << hook.body;
        webhook = text_of(body_of(hook).at("webhookId"));
    }
};

struct values_case {
    verb method;
    const char* target;  // {task}, {webhook}, {account} refer to the world's
    bool by_operator = false;
    std::shared_ptr<Message> good;
    const char* json_type = "application/json";
    const char* distinct = nullptr;  // a field that must differ in each request
    std::size_t stride = 1;          // tests every n-th edge, for slow requests
    bool says_it = true;  // the response, or the task it refers to, contains the sent values
};

Timestamp stamp(std::int64_t seconds) {
    Timestamp t;
    t.set_seconds(seconds);
    return t;
}

v1::CreateTask good_task() {
    v1::CreateTask m;
    m.set_description("it");
    v1::Annotation& a = *m.add_annotations();
    *a.mutable_entry() = stamp(1'700'000'000);
    a.set_description("note");
    (*m.mutable_attributes())["note"] = "x";
    return m;
}

v1::EditTask good_edit() {
    v1::EditTask m;
    m.set_description("another");
    m.mutable_tags()->add_values("home");
    m.mutable_depends();
    v1::Annotation& a = *m.mutable_annotations()->add_values();
    *a.mutable_entry() = stamp(1'700'000'000);
    a.set_description("note");
    return m;
}

template <class M>
std::shared_ptr<Message> good(M message) {
    return std::make_shared<M>(std::move(message));
}

std::vector<values_case> all_cases() {
    v1::CreateTasks creations;
    creations.add_items()->set_idempotency_key("batch");
    *creations.mutable_items(0)->mutable_task() = good_task();
    v1::EditTasks edits;
    edits.add_items()->set_ref("SYN-1");
    *edits.mutable_items(0)->mutable_task() = good_edit();
    v1::Annotation annotation;
    annotation.set_description("note");
    v1::CreateSeries series;
    series.set_prefix("NEW");
    v1::CreateToken token;
    token.set_name("phone");
    v1::CreateDevice device;
    device.set_name("laptop");
    v1::CreateWebhook webhook;
    webhook.set_url("https://hooks.example/y");
    v1::CreateAccount account;
    account.set_name("made");
    account.set_prefix("MADE");
    v1::ImportTasks tasks;
    tasks.add_tasks()->set_uuid("01936a5e-7b2c-7000-8000-00000000000f");
    auto& attributes = *tasks.mutable_tasks(0)->mutable_attributes();
    attributes["description"] = "x";
    attributes["status"] = "pending";
    attributes["entry"] = "1700000000";
    v1::ImportNumbers numbers;
    numbers.add_rows()->set_prefix("OLD");
    numbers.mutable_rows(0)->set_number(1);
    numbers.mutable_rows(0)->set_uuid("01936a5e-7b2c-7000-8000-00000000000f");
    numbers.mutable_rows(0)->set_title("x");
    constexpr const char* patch = "application/merge-patch+json";
    return {
        // clang-format off
        {.method = verb::post, .target = "/v1/tasks", .good = good(good_task())},
        {.method = verb::patch, .target = "/v1/tasks/{task}", .good = good(good_edit()), .json_type = patch},
        {.method = verb::post, .target = "/v1/tasks/{task}:annotate", .good = good(annotation), .says_it = false},
        {.method = verb::post, .target = "/v1/tasks/{task}:denotate", .good = good(annotation), .says_it = false},
        {.method = verb::post, .target = "/v1/tasks:batchCreate", .good = good(creations), .says_it = false},
        {.method = verb::post, .target = "/v1/tasks:batchUpdate", .good = good(edits), .says_it = false},
        {.method = verb::post, .target = "/v1/series", .good = good(series), .distinct = "prefix"},
        {.method = verb::patch, .target = "/v1/series/OLD", .good = good(v1::EditSeries()), .json_type = patch},
        {.method = verb::post, .target = "/v1/tokens", .good = good(token)},
        {.method = verb::post, .target = "/v1/devices", .good = good(device), .distinct = "name", .stride = 6},
        {.method = verb::post, .target = "/v1/webhooks", .good = good(webhook)},
        {.method = verb::patch, .target = "/v1/webhooks/{webhook}", .good = good(v1::EditWebhook()), .json_type = patch, .says_it = false},
        {.method = verb::post, .target = "/v1/admin/accounts", .by_operator = true, .good = good(account), .distinct = "name"},
        {.method = verb::patch, .target = "/v1/admin/accounts/{account}", .by_operator = true, .good = good(v1::EditAccount())},
        {.method = verb::post, .target = "/v1/admin/accounts/{account}/import", .by_operator = true, .good = good(tasks), .says_it = false},
        {.method = verb::post, .target = "/v1/admin/accounts/{account}/numbers", .by_operator = true, .good = good(numbers), .says_it = false},
        {.method = verb::post, .target = "/v1/admin/tokens", .by_operator = true, .good = good(token)},
        // clang-format on
    };
}

// ---- test ----

constexpr const char* all_tasks =
    "/v1/tasks?status=pending&status=completed&status=deleted&status=recurring&pageSize=500";

// Reads every list, and writes to another account.
void expect_sound(values_world& w, const std::string& after) {
    SCOPED_TRACE("after " + after);
    for (const char* accept : {"application/json", "application/x-protobuf"}) {
        const auto show = [&](std::string_view target, const std::string& token) {
            auto request = get(target, token);
            request.set("Accept", accept);
            const auto answer = w.h->call(std::move(request));
            EXPECT_EQ(answer.status, 200u) << target << " " << answer.body.substr(0, 300);
        };
        for (const char* target :
             {all_tasks, "/v1/tasks?sort=due", "/v1/changes?after=0&limit=500", "/v1/series",
              "/v1/tokens", "/v1/devices", "/v1/webhooks", "/v1/account"}) {
            show(target, w.token);
        }
        for (const char* target : {"/v1/admin/accounts?pageSize=1000", "/v1/admin/slots",
                                   "/v1/admin/audit", "/v1/admin/tokens", "/v1/admin/reaper"}) {
            show(target, w.root);
        }
    }
    const auto key = "other" + std::to_string(++w.keys);
    EXPECT_EQ(w.h->call(post("/v1/tasks", R"({"description":"x"})", w.other, key)).status, 201u);
    ASSERT_FALSE(w.h->fatal());
}

std::string target_in(const values_world& w, std::string target) {
    for (const auto& [word, value] : {std::pair<std::string, std::string>{"{task}", w.task},
                                      {"{webhook}", w.webhook},
                                      {"{account}", w.account}}) {
        if (const auto at = target.find(word); at != std::string::npos) {
            target.replace(at, word.size(), value);
        }
    }
    return target;
}

net::http_response send(values_world& w, const values_case& c, format as, std::string body) {
    header_list headers = bearer(c.by_operator ? w.root : w.token);
    headers.emplace_back("Content-Type",
                         as == format::json ? c.json_type : "application/x-protobuf");
    headers.emplace_back("Idempotency-Key", "\"" + std::to_string(++w.keys) + "\"");
    return w.h->call(make_request(c.method, target_in(w, c.target), std::move(body), headers));
}

// False for values that are empty, have more than millisecond precision, or are keys, which are
// replaced by UUIDs.
bool is_said_as_sent(const edge& value) {
    return (!value.text.empty() || value.number != 0) && value.nanos == 0 && value.text != "SYN-1";
}

// Sent values must equal the response's fields of the same names.
void expect_said(const json::value& sent, const json::value& said, const std::string& name,
                 int& compared) {
    if (sent.is_object() && said.is_object()) {
        for (const auto& [key, value] : sent.as_object()) {
            if (const auto* there = said.as_object().if_contains(key)) {
                expect_said(value, *there, name + "." + std::string(key), compared);
            }
        }
        return;
    }
    if (sent.is_array() && said.is_array()) {
        ASSERT_EQ(sent.as_array().size(), said.as_array().size()) << name;
        for (std::size_t i = 0; i < sent.as_array().size(); ++i) {
            expect_said(sent.as_array()[i], said.as_array()[i], name + "[]", compared);
        }
        return;
    }
    if (sent.kind() != said.kind() && !(sent.is_number() && said.is_number())) return;
    ++compared;
    EXPECT_EQ(json::serialize(sent), json::serialize(said)) << name;
}

// Returns the task that the response refers to, or the response itself.
json::value shown(values_world& w, const net::http_response& answer) {
    const auto said = json::parse(answer.body);
    const auto* const uuid = said.is_object() ? said.as_object().if_contains("uuid") : nullptr;
    if (!uuid) return said;
    return body_of(w.h->call(get("/v1/tasks/" + text_of(*uuid), w.token)));
}

class values : public ::testing::TestWithParam<std::size_t> {};

TEST_P(values, accepted_can_be_read_back_and_block_no_request) {
    const values_case c = all_cases()[GetParam()];
    SCOPED_TRACE(c.target);
    std::vector<field_place> places;
    find_places(*c.good, {}, places);
    ASSERT_FALSE(places.empty());
    std::map<std::string, unsigned> statuses[2];  // by field and value; every success counts as 200
    int accepted = 0, rejected = 0, compared = 0;
    for (const format as : {format::json, format::protobuf}) {
        values_world w;
        for (const field_place& place : places) {
            w.new_account();
            std::size_t n = 0;
            for (const edge& value : edges_of(place)) {
                if (n++ % c.stride != 0) continue;
                const std::string name = place.name() + " edge " + std::to_string(n);
                if (as == format::json && !has_json(place, value)) continue;
                const std::unique_ptr<Message> message(c.good->New());
                message->CopyFrom(*c.good);
                if (c.distinct) {
                    const auto* f = message->GetDescriptor()->FindFieldByName(c.distinct);
                    message->GetReflection()->SetString(message.get(), f,
                                                        "N" + std::to_string(++w.names));
                }
                put(*message, place, value);
                const auto written = as == format::json
                                         ? json::serialize(json_of(
                                               *message, &message_at(*message, place), place.leaf))
                                         : message->SerializeAsString();
                const auto answer = send(w, c, as, written);
                const bool is_good = answer.status / 100 == 2;
                ++(is_good ? accepted : rejected);
                if (is_good && as == format::json && c.says_it && is_said_as_sent(value)) {
                    expect_said(json::parse(written), shown(w, answer), name, compared);
                }
                EXPECT_LT(answer.status, 500u) << name << " " << answer.body.substr(0, 300);
                statuses[as == format::json ? 0 : 1][name] = is_good ? 200u : answer.status;
            }
            expect_sound(w, place.name());
            if (HasFailure()) return;
        }
        w.h.reset();
        w.disk.kill();
        EXPECT_EQ(audit(w.disk.open()), std::vector<std::string>{});
    }
    for (const auto& [name, status] : statuses[0]) {
        const auto other = statuses[1].find(name);
        ASSERT_NE(other, statuses[1].end());
        EXPECT_EQ(status, other->second) << name << ": JSON, then protobuf";
    }
    EXPECT_GT(accepted, 0);
    EXPECT_TRUE(compared > 0 || !c.says_it);
    EXPECT_GT(rejected, 0);
}

std::string name_of_case(const ::testing::TestParamInfo<std::size_t>& info) {
    const values_case c = all_cases()[info.param];
    std::string name = c.method == verb::patch ? "patch" : "post";
    for (const char* at = c.target; *at; ++at) name += std::isalnum(*at) ? *at : '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(routes, values, ::testing::Range(std::size_t{0}, all_cases().size()),
                         name_of_case);

}  // namespace
}  // namespace callsign::testing
