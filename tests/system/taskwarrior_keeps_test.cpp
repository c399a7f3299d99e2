// Goal: Taskwarrior preserves every task that REST or an import accepts, as created or after edits:
// it is unchanged after reports and two syncs, and can be exported. Method: generated tasks and
// edits with many unusual values in every field, and unusual attributes; what the server accepts is
// compared. Skipped without a real Taskwarrior.

#include "taskwarrior_fixture.hpp"

#include <random>

namespace callsign::testing {
namespace {

constexpr int tasks = 240;
constexpr int edits = 120;
constexpr unsigned seed = 20'261'121;

class drawing {
  public:
    explicit drawing(unsigned from) : random_(from) {}

    int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
    bool one_in(int n) { return below(n) == 0; }
    template <std::size_t n>
    std::string of(const char* const (&words)[n]) {
        return words[below(static_cast<int>(n))];
    }

    std::string text() {
        static constexpr const char* words[] = {
            "Say",    "its",     "number:1", "+tag", "-x",    "\"quoted\"", "back\\slash",
            "[a]",    "{b}",     "a,b",      "due:", "äöü",   "数",         "\tindented",
            "line\n", "key:X-1", "$HOME",    "100%", "(1+1)", "'"};
        std::string out = of(words);
        for (int n = below(5); n > 0; --n) out += " " + of(words);
        return out;
    }
    // Mostly of recent years.
    std::string instant() {
        static constexpr const char* odd[] = {
            "1970-01-02T00:00:00Z", "1980-01-01T00:00:00Z", "0001-01-01T00:00:00Z",
            "2000-02-29T12:00:00Z", "2037-12-31T23:59:59Z", "2106-02-07T06:28:16Z",
            "9999-12-31T21:59:58Z", "9999-12-31T23:59:59Z", "1999-12-31T23:59:59.5Z"};
        if (one_in(6)) return of(odd);
        const auto two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
        return std::to_string(2025 + below(6)) + "-" + two(1 + below(12)) + "-" +
               two(1 + below(28)) + "T" + two(below(24)) + ":" + two(below(60)) + ":00" + "Z";
    }
    std::string recurrence() {
        static constexpr const char* all[] = {
            "annual",     "biannual",  "bimonthly", "biweekly", "biyearly", "daily",
            "day",        "fortnight", "month",     "monthly",  "quarter",  "quarterly",
            "semiannual", "week",      "weekdays",  "weekly",   "year",     "yearly",
            "1d",         "2day",      "3days",     "12h",      "6hour",    "48hours",
            "7hr",        "8hrs",      "1mo",       "2month",   "3months",  "1q",
            "2quarter",   "2quarters", "1w",        "2week",    "3weeks",   "4wk",
            "5wks",       "1y",        "2year",     "3years",   "P1D",      "P2W",
            "P3M",        "P1Y",       "999d",      "often",    "0d",       ""};
        return of(all);
    }

    // Fields of both edits and creations.
    json::object fields() {
        static constexpr const char* attribute_names[] = {"until", "scheduled", "start", "end"};
        static constexpr const char* statuses[] = {"pending", "completed", "recurring"};
        static constexpr const char* projects[] = {"home", "home.garden", "a b", "Ünder"};
        static constexpr const char* priorities[] = {"H", "M", "L", "urgent"};
        static constexpr const char* tags[] = {"next", "PENDING", "a,b", "über", "x.y", "+z"};
        json::object task;
        json::object attributes;
        if (one_in(2)) task["status"] = of(statuses);
        if (one_in(2)) task["due"] = instant();
        if (one_in(4)) task["wait"] = instant();
        if (one_in(3)) task["project"] = of(projects);
        if (one_in(3)) task["priority"] = of(priorities);
        if (one_in(3)) {
            json::array some{json::string(of(tags))};
            const std::string other = of(tags);
            if (some[0].as_string() != other) some.emplace_back(other);
            task["tags"] = std::move(some);
        }
        if (one_in(4)) {
            task["annotations"] = json::array{
                json::object{{"entry", "2026-11-20T12:48:00Z"}, {"description", text()}},
                json::object{{"entry", one_in(4) ? instant() : "2026-11-20T12:49:00Z"},
                             {"description", text()}}};
        }
        for (const char* name : attribute_names) {
            if (one_in(5)) (one_in(2) ? attributes : task)[name] = instant();
        }
        if (one_in(3)) (one_in(2) ? attributes : task)["recur"] = recurrence();
        if (one_in(3)) attributes["estimate"] = text();
        if (!attributes.empty()) task["attributes"] = std::move(attributes);
        return task;
    }

    // An attribute as TaskChampion stores it; more than a third of them would break an export.
    std::pair<std::string, std::string> attribute() {
        using namespace std::string_view_literals;
        static constexpr std::string_view names[] = {
            "note"sv,  "A b"sv,         "x:y"sv,     "n.1"sv,          "a\"b"sv,  "a\\b"sv,
            "a\nb"sv,  "a\0b"sv,        "a\x7F"sv,   "\xE2\x80\xA8"sv, "id"sv,    "urgency"sv,
            "uuid"sv,  "annotations"sv, "mask"sv,    "parent"sv,       "rtype"sv, "template"sv,
            "recur"sv, "project"sv,     "priority"sv};
        static constexpr std::string_view values[] = {
            "x"sv,       "a\"b"sv,  "back\\"sv,       "\r\n\t\b\f"sv,   "\0"sv,
            "\x1B[2J"sv, "\x7F"sv,  "\xE2\x80\xA9"sv, "\xEF\xBF\xBF"sv, "\xF0\x9F\x92\xA5"sv,
            "0"sv,       "1e400"sv, "[1,2]"sv,        "{}"sv,           "null"sv,
            "weekly"sv,  ""sv};
        static constexpr std::string_view seconds[] = {"1700000000"sv,
                                                       "315532800"sv,
                                                       "315532799"sv,
                                                       "253402293598"sv,
                                                       "253402293599"sv,
                                                       "0"sv,
                                                       "-1"sv,
                                                       ""sv,
                                                       "x"sv,
                                                       "01700000000"sv,
                                                       "1700000000.5"sv,
                                                       "1900000000"sv};
        static constexpr std::string_view instants[] = {
            "due"sv, "entry"sv, "wait"sv, "scheduled"sv, "start"sv, "end"sv, "modified"sv};
        static constexpr std::string_view numbers[] = {"0"sv,  "12"sv,  "-3"sv, "x"sv,
                                                       "01"sv, "nan"sv, ""sv};
        static constexpr std::string_view statuses[] = {
            "pending"sv, "completed"sv, "deleted"sv, "recurring"sv, "waiting"sv, "foo"sv, ""sv};
        static constexpr std::string_view tags[] = {"a"sv,  "a b"sv, "a\"b"sv,      "a\\b"sv,
                                                    "\t"sv, ""sv,    "+\xC3\xBC,"sv};
        const auto one = [&](const auto& all) {
            return std::string(all[below(static_cast<int>(std::size(all)))]);
        };
        switch (below(8)) {
        case 0: return {one(instants), one(seconds)};
        case 1: return {one_in(2) ? "imask" : "last", one(numbers)};
        case 2: return {"status", one(statuses)};
        case 3: return {"tag_" + one(tags), ""};
        case 4: return {"annotation_" + one(seconds), one(values)};
        default: return {one(names), one(values)};
        }
    }

  private:
    std::mt19937 random_;
};

class taskwarrior_keeps_test : public managed_test {
  protected:
    // Describes which content of `less` is missing from `more`. For Taskwarrior, empty attributes
    // do not exist.
    static std::string missing(const plain_task& less, const plain_task& more) {
        std::string text;
        for (const auto& [name, value] : less) {
            if (name == "modified")
                continue;  // set by Taskwarrior when it creates recurring instances
            const auto found = more.find(name);
            if (found != more.end() ? found->second == value : value.empty()) continue;
            text += name + ": " + value + " became " +
                    (found == more.end() ? "nothing" : found->second) + "\n";
        }
        return text;
    }
};

// In the form of plain_export.
plain_task plain_attributes(const std::map<std::string, std::string>& all) {
    plain_task plain;
    std::map<std::string, std::vector<std::string>> lists;
    for (const auto& [name, value] : all) {
        if (name.starts_with("tag_")) {
            lists["tags"].push_back(name.substr(4));
        } else if (name.starts_with("annotation_")) {
            lists["annotations"].push_back(name.substr(11) + " " + value);
        } else {
            plain[name] = value;
        }
    }
    for (auto& [name, list] : lists) {
        std::sort(list.begin(), list.end());
        for (const std::string& one : list) plain[name] += one + "\n";
    }
    return plain;
}

// Returns the numbers that follow `word` in a command's output.
std::set<std::size_t> places_in(const std::string& said, const std::string& word) {
    std::set<std::size_t> all;
    for (auto at = said.find(word); at != said.npos; at = said.find(word, at + 1)) {
        all.insert(std::stoul(said.substr(at + word.size())));
    }
    return all;
}

TEST_F(taskwarrior_keeps_test, what_every_way_in_accepts) {
    begin();
    drawing draw(seed);
    http_client as_operator(s->port(), s->admin_token());
    std::map<std::string, plain_task> expected;
    int next = 0, rejected = 0;
    const auto uuid_of_next = [&] {
        return "11111111-2222-4333-8444-" + std::to_string(100'000'000'000 + ++next);
    };
    const auto drawn = [&] {
        std::map<std::string, std::string> all{{"description", draw.text()}, {"status", "pending"}};
        for (int n = draw.below(3); n >= 0; --n) {
            const auto [name, value] = draw.attribute();
            all[name] = value;
        }
        return all;
    };

    for (int n = 0; n < 300; ++n) {
        json::object attributes;
        const auto all = drawn();
        for (const auto& [name, value] : all) attributes[name] = value;
        const std::string uuid = uuid_of_next();
        const json::object import{
            {"tasks", json::array{json::object{{"uuid", uuid}, {"attributes", attributes}}}}};
        const auto answer =
            as_operator.post_json("/v1/admin/accounts/ops/import", json::serialize(import));
        ASSERT_TRUE(answer && (answer->status == 200 || answer->status == 400)) << answer->body;
        if (answer->status == 200) expected[uuid] = plain_attributes(all);
        rejected += answer->status == 400 ? 1 : 0;
    }

    for (int n = 0; n < 150; ++n) {
        const auto [name, value] = draw.attribute();
        json::object task{{"description", draw.text()}};
        if (name.starts_with("tag_")) {
            task["tags"] = json::array{json::string(name.substr(4))};
        } else if (name == "project" || name == "priority" || name == "status") {
            task[name] = value;
        } else {
            task["attributes"] = json::object{{name, value}};
        }
        const auto made =
            rest->post_json("/v1/tasks", json::serialize(task), "k" + std::to_string(n));
        ASSERT_TRUE(made && (made->status == 201 || made->status == 400)) << made->body;
        rejected += made->status == 400 ? 1 : 0;
        if (made->status == 400) continue;
        const std::string uuid = text_in(json::parse(made->body).as_object(), "uuid");
        expected[uuid] = plain_answer(show(uuid));
    }

    // Repeats the import without the entries that the first attempt rejects.
    const std::string file = temp_path("export.json").string();
    std::vector<std::pair<std::string, std::map<std::string, std::string>>> entries;
    for (int n = 0; n < 150; ++n) entries.emplace_back(uuid_of_next(), drawn());
    const auto import_entries = [&] {
        json::array all;
        for (const auto& [uuid, attributes] : entries) {
            json::object one{{"uuid", uuid}};
            for (const auto& [name, value] : attributes) {
                if (name.starts_with("tag_")) {
                    one["tags"] = json::array{json::string(name.substr(4))};
                } else if (name != "id" && name != "urgency" && name != "uuid") {
                    one[name] = value;
                }
            }
            all.emplace_back(std::move(one));
        }
        std::ofstream(file) << json::serialize(all);
        return callsign({"import", "taskwarrior", file, "--account", "ops"});
    };
    const finished faulty = import_entries();
    EXPECT_EQ(faulty.status, (exit_status{1, 0}));
    const auto wrong = places_in(faulty.err, "\n  entry ");
    EXPECT_GE(wrong.size(), 30u);
    for (auto n = wrong.rbegin(); n != wrong.rend(); ++n) {
        entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(*n - 1));
    }
    expect_done(import_entries());
    for (const auto& [uuid, attributes] : entries) expected[uuid] = plain_answer(show(uuid));

    const std::string table = temp_path("table.csv").string();
    std::vector<std::string> titles;
    for (const char* title : {"a", "a\tb", "a\x01", "\x1B[2J", "\x7F", "\"\"q\"\"", "\xFF", "\\"}) {
        titles.emplace_back(title);
    }
    ask_callsign({"series", "create", "ops", "--prefix", "OLD", "--allow-gaps"});
    const auto import_titles = [&] {
        std::ofstream csv(table);
        csv << "prefix,number,uuid,title,created_at\n";
        for (std::size_t n = 0; n < titles.size(); ++n) {
            csv << "OLD," << n + 1 << ",21111111-2222-4333-8444-" << 100'000'000'000 + n << ",\""
                << titles[n] << "\",2020-01-01T00:00:00Z\n";
        }
        csv.close();
        return callsign({"import", "numbers", table, "--account", "ops"});
    };
    const auto lines = places_in(import_titles().err, "\n  line ");
    EXPECT_EQ(lines, (std::set<std::size_t>{4, 5, 6, 8}));
    for (auto n = lines.rbegin(); n != lines.rend(); ++n) {
        titles.erase(titles.begin() + static_cast<std::ptrdiff_t>(*n - 2));
    }
    expect_done(import_titles());

    EXPECT_GE(static_cast<int>(expected.size()), 150);
    EXPECT_GE(rejected, 100);
    const auto laptop = make_device("laptop");
    expect_done(laptop->sync());
    const finished exported = (*laptop)({"export"});
    expect_done(exported);
    boost::system::error_code no_json;
    json::parse(exported.out, no_json);
    ASSERT_FALSE(no_json) << no_json.message() << exported.out.substr(0, 300);
    const task_table there = tasks_of(*laptop);
    EXPECT_EQ(there.size(), expected.size() + titles.size());
    for (const auto& [uuid, as_sent] : expected) {
        const auto found = there.find(uuid);
        ASSERT_NE(found, there.end()) << uuid;
        EXPECT_EQ(missing(as_sent, plain_export(found->second)), "")
            << json::serialize(found->second);
    }
    expect_done((*laptop)({"all"}));
    expect_done(laptop->sync());
    expect_sound();
}

TEST_F(taskwarrior_keeps_test, what_rest_accepts) {
    begin();
    drawing draw(seed);
    std::map<std::string, plain_task> expected;
    std::vector<std::string> uuids;
    int rejected = 0;
    for (int n = 0; n < tasks; ++n) {
        json::object wanted = draw.fields();
        wanted["description"] = draw.text() + " " + std::to_string(n);
        if (!uuids.empty() && draw.one_in(5)) {
            wanted["depends"] = json::array{json::string(
                uuids[static_cast<std::size_t>(draw.below(static_cast<int>(uuids.size())))])};
        }
        const auto made =
            rest->post_json("/v1/tasks", json::serialize(wanted), "k" + std::to_string(n));
        ASSERT_TRUE(made);
        if (made->status == 400) {
            ++rejected;
            continue;
        }
        ASSERT_EQ(made->status, 201u) << made->body;
        uuids.push_back(text_in(json::parse(made->body).as_object(), "uuid"));
        EXPECT_EQ(missing(plain_answer(wanted), plain_answer(show(uuids.back()))), "");
    }
    int edited = 0;
    for (int n = 0; n < edits; ++n) {
        const std::string& uuid =
            uuids[static_cast<std::size_t>(draw.below(static_cast<int>(uuids.size())))];
        json::object wanted = draw.fields();
        if (draw.one_in(6)) wanted["due"] = nullptr;
        if (draw.one_in(6)) wanted["attributes"] = json::object{{"recur", nullptr}};
        if (draw.one_in(6)) wanted["attributes"] = json::object{{"end", nullptr}};
        if (draw.one_in(8)) wanted["status"] = "deleted";
        const unsigned status = edit(uuid, wanted);
        ASSERT_TRUE(status == 200 || status == 400) << status;
        edited += status == 200 ? 1 : 0;
        rejected += status == 400 ? 1 : 0;
    }
    EXPECT_GE(static_cast<int>(uuids.size()), tasks / 3);
    EXPECT_GE(edited, edits / 4);
    EXPECT_GE(rejected, tasks / 10);
    for (const std::string& uuid : uuids) expected[uuid] = plain_answer(show(uuid));

    const auto laptop = make_device("laptop");
    for (int twice = 0; twice < 2; ++twice) {
        expect_done(laptop->sync());
        expect_done((*laptop)({"list"}));
        expect_done((*laptop)({"all"}));
    }
    expect_done(laptop->sync());
    const auto phone = make_device("phone");
    expect_done(phone->sync());
    const task_table on_laptop = tasks_of(*laptop);
    EXPECT_EQ(differences(on_laptop, tasks_of(*phone)), "");
    for (const auto& [uuid, as_sent] : expected) {
        const auto found = on_laptop.find(uuid);
        ASSERT_NE(found, on_laptop.end()) << uuid;
        EXPECT_EQ(missing(as_sent, plain_export(found->second)), "")
            << json::serialize(found->second);
        EXPECT_EQ(missing(as_sent, plain_answer(show(uuid))), "") << uuid;
    }
}

}  // namespace
}  // namespace callsign::testing
