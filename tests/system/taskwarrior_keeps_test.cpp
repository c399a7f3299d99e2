// Goal: every task that REST accepts, as it was made or after edits, is one that Taskwarrior keeps:
// it is there, as it was sent, after its reports and two syncs. Method: tasks and edits drawn with
// many odd values in every field; what is refused is refused, what is taken is compared. Skipped
// without a real Taskwarrior.

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
    // Mostly of these years.
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

    // What an edit or a creation has in common.
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

  private:
    std::mt19937 random_;
};

class taskwarrior_keeps_test : public managed_test {
  protected:
    // Everything of `less` is in `more`; where not, in words. To Taskwarrior an empty attribute is
    // none.
    static std::string missing(const plain_task& less, const plain_task& more) {
        std::string text;
        for (const auto& [name, value] : less) {
            if (name == "modified")
                continue;  // by Taskwarrior, as it makes tasks of those that recur
            const auto found = more.find(name);
            if (found != more.end() ? found->second == value : value.empty()) continue;
            text += name + ": " + value + " became " +
                    (found == more.end() ? "nothing" : found->second) + "\n";
        }
        return text;
    }
};

TEST_F(taskwarrior_keeps_test, what_rest_accepts) {
    begin();
    drawing draw(seed);
    std::map<std::string, plain_task> expected;
    std::vector<std::string> uuids;
    int refused = 0;
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
            ++refused;
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
        refused += status == 400 ? 1 : 0;
    }
    EXPECT_GE(static_cast<int>(uuids.size()), tasks / 3);
    EXPECT_GE(edited, edits / 4);
    EXPECT_GE(refused, tasks / 10);
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
