// Goal: the list's filters and urgency equal those of the real Taskwarrior. Method: the same
// generated tasks and the same queries for both.

#include "taskwarrior_fixture.hpp"

#include <random>

namespace callsign::testing {
namespace {

constexpr int tasks_made = 400;

// Instants are hours away from now and from midnight, so that results do not change during the
// comparison.
class task_maker {
  public:
    explicit task_maker(std::int64_t now) : now_(now), noon_(now - now % 86'400 + 43'200) {}

    json::object make() {
        json::object t{
            {"uuid", new_uuid()},
            {"description", one_of({"Call Anna", "Write the Report", "mow", "REPORT back"})}};
        t["entry"] = stamp(now_ - 3'600 - day() * roll(500));
        const int kind = roll(20);
        if (kind < 14) {
            t["status"] = "pending";
            made_.push_back(std::string(t.at("uuid").as_string()));
        } else if (kind < 18) {
            t["status"] = kind < 17 ? "completed" : "deleted";
            t["end"] = stamp(now_ - 1'800);
        } else {
            t["status"] = "pending";
        }
        fill(t);
        return t;
    }

  private:
    static constexpr std::int64_t day() { return 86'400; }
    int roll(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(chance_); }
    bool often() { return roll(3) == 0; }
    const char* one_of(std::vector<const char*> all) {
        return all[static_cast<std::size_t>(roll(static_cast<int>(all.size())))];
    }
    static std::string stamp(std::int64_t seconds) {
        const std::time_t at = seconds;
        std::tm parts{};
        ::gmtime_r(&at, &parts);
        char text[32];
        std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
        return text;
    }
    std::string near_now() {
        const std::int64_t days = roll(40) - 20;
        const std::int64_t at = noon_ + days * day() + (roll(2) == 0 ? -7'200 : 7'200);
        return stamp(std::abs(at - now_) < 1'800 ? at + 3'600 : at);
    }
    std::string new_uuid() {
        char text[40];
        std::snprintf(text, sizeof text, "%08x-0000-4000-8000-%012x", roll(1 << 30), ++drawn_);
        return text;
    }

    void fill(json::object& t) {
        if (often()) t["due"] = near_now();
        if (roll(5) == 0) t["wait"] = near_now();
        if (roll(5) == 0) t["scheduled"] = near_now();
        if (roll(8) == 0) t["start"] = stamp(now_ - 7'200);
        if (often()) t["priority"] = one_of({"H", "M", "L"});
        if (often()) t["project"] = one_of({"Home", "Home.Garden", "Work", "Work.Site.B"});
        json::array tags;
        for (const char* tag : {"x", "y", "z", "next"}) {
            if (roll(4) == 0) tags.emplace_back(tag);
        }
        if (!tags.empty()) t["tags"] = tags;
        if (roll(6) == 0) {
            json::array notes;
            for (int n = roll(4); n >= 0; --n) {
                notes.push_back({{"entry", stamp(now_ - 5'000 - n)}, {"description", "a report"}});
            }
            t["annotations"] = notes;
        }
        if (made_.size() > 5 && roll(4) == 0) {
            json::array depends;
            for (int n = roll(3); n >= 0; --n) {
                const std::string& other =
                    made_[static_cast<std::size_t>(roll(static_cast<int>(made_.size()) - 1))];
                if (t.at("uuid") != json::value(other)) depends.emplace_back(other);
            }
            if (!depends.empty()) t["depends"] = depends;
        }
    }

    std::mt19937_64 chance_{20261122};
    std::int64_t now_;
    std::int64_t noon_;
    std::vector<std::string> made_;
    int drawn_ = 0;
};

class lists : public managed_test {
  protected:
    // Returns the tasks of all pages of a list.
    std::vector<std::string> listed(const std::string& query) {
        std::vector<std::string> uuids;
        std::string token;
        do {
            const auto page = rest->get("/v1/tasks?pageSize=70&" + query + "&pageToken=" + token);
            EXPECT_TRUE(page && page->status == 200) << query << (page ? page->body : "");
            if (!page || page->status != 200) return uuids;
            const json::object body = json::parse(page->body).as_object();
            for (const json::value& t : body.at("tasks").as_array()) {
                uuids.emplace_back(t.at("uuid").as_string());
            }
            token = text_in(body, "nextPageToken");
        } while (!token.empty());
        return uuids;
    }
    // Returns urgencies by UUID.
    std::map<std::string, double> exported(const std::string& filter) {
        std::map<std::string, double> all;
        const json::value tasks = json::parse(device->exported(filter));
        for (const json::value& t : tasks.as_array()) {
            all[std::string(t.at("uuid").as_string())] = t.at("urgency").to_number<double>();
        }
        return all;
    }
    void expect_same(const std::string& query, const std::string& filter) {
        SCOPED_TRACE(query + " is " + filter);
        const std::vector<std::string> ours = listed(query);
        const std::set<std::string> set(ours.begin(), ours.end());
        EXPECT_EQ(set.size(), ours.size()) << "duplicate task";
        std::set<std::string> theirs;
        for (const auto& [uuid, urgency] : exported(filter)) theirs.insert(uuid);
        EXPECT_EQ(set, theirs);
        answers += static_cast<int>(theirs.size());
    }

    std::unique_ptr<taskwarrior> device;
    int answers = 0;
};

TEST_F(lists, filters_and_urgency_are_taskwarriors_own) {
    begin();
    device = make_device("laptop");
    device->configure("search.case.sensitive=no");
    const std::int64_t now = std::time(nullptr);
    task_maker maker(now);
    json::array all;
    for (int n = 0; n < tasks_made; ++n) all.push_back(maker.make());
    expect_done(device->import(json::serialize(all)));
    expect_done(device->sync());

    const std::string open = "( status:pending or status:waiting ) ";
    const std::vector<std::string> every{"status=pending&status=completed&status=deleted&", ""};
    expect_same("", open);
    expect_same("status=completed", "status:completed");
    expect_same("status=deleted", "status:deleted");
    expect_same("project=Home", open + "( project.is:Home or project.startswith:Home. )");
    expect_same("project=Work.Site", open + "project.startswith:Work.Site.");
    expect_same("tag=x", open + "+x");
    expect_same("tag=x&tag=y&notTag=z", open + "+x +y -z");
    expect_same("text=report", open + "/report/");
    for (const char* tag :
         {"active", "annotated", "blocked", "blocking", "unblocked", "due", "overdue", "pending",
          "priority", "project", "ready", "scheduled", "tagged", "until", "waiting"}) {
        std::string upper(tag);
        for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        expect_same("is=" + std::string(tag), open + "+" + upper);
        expect_same(every[0] + "is=" + tag, "+" + upper);
    }
    expect_same("is=ready&is=blocking&tag=x", open + "+READY +BLOCKING +x");
    EXPECT_GT(answers, 3'000) << "empty results compare nothing";

    const auto urgency = exported(open);
    const std::vector<std::string> order = listed("sort=-urgency");
    ASSERT_EQ(order.size(), urgency.size());
    for (std::size_t i = 1; i < order.size(); ++i) {
        EXPECT_GE(urgency.at(order[i - 1]), urgency.at(order[i]) - 0.001) << i;
    }
    EXPECT_GT(urgency.at(order.front()) - urgency.at(order.back()), 20.0);
    expect_sound();
}

}  // namespace
}  // namespace callsign::testing
