// Goal: after a restore, real Taskwarriors that were ahead of the backup bring back all they have,
// and their tasks keep their keys.
//
// Method: the real programs. A backup, further work by two Taskwarriors and REST, loss of the data,
// and the procedure of docs/operations.md.

#include "taskwarrior_fixture.hpp"

#include <set>

namespace callsign::testing {
namespace {

class restored_taskwarriors : public managed_test {
  protected:
    void SetUp() override {
        managed_test::SetUp();
        if (IsSkipped()) return;
        begin();
        laptop_ = make_device("laptop");
        phone_ = make_device("phone");
        (*laptop_)({"add", "before the backup"});
        sync(*laptop_);
        sync(*phone_);
        ask_callsign({"backup", backup().string()});

        (*laptop_)({"add", "by the laptop"});
        sync(*laptop_);
        sync(*phone_);
        (*phone_)({"add", "by the phone"});
        (*phone_)({"key.is:SYN-1", "modify", "changed by the phone"});
        sync(*phone_);
        create("one", {{"description", "by REST"}});
        sync(*laptop_);
        sync(*phone_);
        (*phone_)({"add", "not sent yet"});
        EXPECT_EQ(keys(*laptop_), (std::set<std::string>{"SYN-1", "SYN-2", "SYN-3", "SYN-4"}));
    }

    std::filesystem::path backup() const { return temp_path("backup"); }

    void lose_all_but_the_backup() {
        s->child().kill();
        std::filesystem::remove_all(data_dir());
        const finished restored =
            run({(programs() / "callsign").string(), "restore", backup().string(), "--data-dir",
                 data_dir().string(), "--yes"},
                timeout);
        ASSERT_EQ(restored.status, (exit_status{0, 0})) << restored.err;
        s->start();
        rest = std::make_unique<http_client>(s->port(), token);
    }

    static void sync(const taskwarrior& device) {
        const finished done = device.sync();
        EXPECT_EQ(done.status, (exit_status{0, 0})) << done.out << done.err;
    }
    static std::set<std::string> keys(const taskwarrior& device) {
        std::set<std::string> all;
        for (const auto& [uuid, task] : tasks_of(device)) {
            if (task.contains("key")) all.insert(text_in(task, "key"));
        }
        return all;
    }
    static std::string described(const taskwarrior& device, const std::string& key) {
        for (const auto& [uuid, task] : tasks_of(device)) {
            if (task.contains("key") && text_in(task, "key") == key) {
                return text_in(task, "description");
            }
        }
        return "(none)";
    }
    // Returns the task that asks the user for a change; empty: none.
    static std::string note(const taskwarrior& device) {
        for (const auto& [uuid, task] : tasks_of(device)) {
            const auto text = text_in(task, "description");
            if (text.find("restored from a backup") != std::string::npos) return uuid;
        }
        return {};
    }
    std::set<std::string> resyncs() const {
        std::set<std::string> all;
        const json::object list = ask_callsign({"device", "list", "ops"});
        for (const auto& each : list.at("devices").as_array()) {
            all.insert(text_in(each.as_object(), "name") + " " +
                       text_in(each.as_object(), "resync"));
        }
        return all;
    }
    void expect_all_agree() {
        for (int twice = 0; twice < 2; ++twice) {
            sync(*laptop_);
            sync(*phone_);
        }
        EXPECT_EQ(tasks_of(*laptop_), tasks_of(*phone_));
        EXPECT_EQ(described(*laptop_, "SYN-1"), "changed by the phone");
        EXPECT_EQ(described(*laptop_, "SYN-2"), "by the laptop");
        EXPECT_EQ(described(*laptop_, "SYN-3"), "by the phone");
        EXPECT_EQ(described(*laptop_, "SYN-4"), "by REST");
        EXPECT_EQ(described(*laptop_, "SYN-5"), "not sent yet");
        EXPECT_EQ(note(*laptop_) + note(*phone_), "");
        for (int n = 1; n <= 5; ++n) {
            const auto shown = show("SYN-" + std::to_string(n));
            EXPECT_EQ(text_in(shown, "description"), described(*phone_, text_in(shown, "key")));
        }
        EXPECT_EQ(text_in(create("two", {{"description", "the next"}}), "key"), "SYN-6");
        checked();
    }

    std::unique_ptr<taskwarrior> laptop_, phone_;
};

TEST_F(restored_taskwarriors, return_automatically) {
    lose_all_but_the_backup();
    EXPECT_EQ(resyncs(), (std::set<std::string>{"laptop expected", "phone expected"}));
    const auto rejected = rest->post_json("/v1/tasks", R"({"description":"early"})", "early");
    EXPECT_EQ(rejected->status, 503u);
    // The device has nothing to send, so a task asks its user for a change.
    sync(*laptop_);
    ASSERT_NE(note(*laptop_), "");
    sync(*laptop_);
    EXPECT_EQ(resyncs(), (std::set<std::string>{"laptop expected", "phone expected"}));
    (*laptop_)({note(*laptop_), "done"});
    sync(*laptop_);
    EXPECT_EQ(note(*laptop_), "");
    EXPECT_EQ(resyncs(), (std::set<std::string>{"laptop returned", "phone expected"}));
    // This device has something to send. It is the last one, so its task gets a number at once.
    sync(*phone_);
    EXPECT_EQ(resyncs(), (std::set<std::string>{"laptop returned", "phone returned"}));
    expect_all_agree();
}

// If a sync were rejected midway, a stock client would forget the rest of it.
TEST_F(restored_taskwarriors, what_is_new_syncs_and_has_its_keys_when_all_are_back) {
    lose_all_but_the_backup();
    const auto tablet = make_device("tablet");
    sync(*tablet);
    json::array notes;
    for (int n = 0; n < 150; ++n) {
        notes.push_back({{"description", "Note " + std::to_string(n)},
                         {"status", "pending"},
                         {"notes", std::string(9'900, 'x')}});
    }
    expect_done(tablet->import(json::serialize(notes)));
    (*tablet)({"key.is:SYN-1", "annotate", "more than a version of changes ago"});
    sync(*tablet);
    EXPECT_EQ(keys(*tablet), std::set<std::string>{"SYN-1"});
    sync(*phone_);
    EXPECT_EQ(text_in(show("SYN-3"), "description"), "by the phone");
    EXPECT_EQ(keys(*phone_), (std::set<std::string>{"SYN-1", "SYN-2", "SYN-3", "SYN-4"}));
    checked();

    sync(*laptop_);
    (*laptop_)({note(*laptop_), "done"});
    sync(*laptop_);
    for (const taskwarrior* device : {laptop_.get(), phone_.get(), tablet.get(), laptop_.get()}) {
        sync(*device);
    }
    EXPECT_EQ(tasks_of(*laptop_), tasks_of(*phone_));
    EXPECT_EQ(tasks_of(*laptop_), tasks_of(*tablet));
    EXPECT_EQ(keys(*laptop_).size(), tasks_of(*laptop_).size());
    EXPECT_GE(keys(*laptop_).size(), 155u);
    EXPECT_EQ(described(*laptop_, "SYN-4"), "by REST");
    checked();
}

TEST_F(restored_taskwarriors, an_export_brings_their_keys) {
    const std::string file = temp_path("export.json").string();
    std::ofstream(file) << phone_->exported();
    lose_all_but_the_backup();
    const json::object done =
        ask_callsign({"import", "taskwarrior", file, "--account", "ops", "--with-keys"});
    EXPECT_EQ(done.at("keysKept"), 3);
    EXPECT_EQ(text_in(show("SYN-5"), "description"), "not sent yet");
    EXPECT_EQ(text_in(create("two", {{"description", "the next"}}), "key"), "SYN-6");
    checked();
}

// The server cannot read the tasks of an opaque account, so users bring them back with exports.
TEST_F(restored_taskwarriors, of_an_opaque_account_bring_an_export) {
    const json::object made =
        ask_callsign({"account", "create", "sealed", "--prefix", "OPQ", "--opaque"});
    const auto make = [&] {
        return std::make_unique<taskwarrior>(program, s->port(), text_in(made, "clientId"),
                                             "secret");
    };
    auto one = make(), other = make();
    (*one)({"add", "before"});
    sync(*one);
    sync(*other);
    std::filesystem::remove_all(backup());
    ask_callsign({"backup", backup().string()});
    (*one)({"add", "of one"});
    sync(*one);
    sync(*other);
    (*other)({"of one", "modify", "of one, by the other"});
    (*other)({"add", "not sent yet"});
    lose_all_but_the_backup();
    const finished gone = one->sync();
    EXPECT_NE(gone.err.find("410"), std::string::npos) << gone.err;
    for (auto* const device : {&one, &other}) {
        const std::string all = (*device)->exported();
        *device = make();
        sync(**device);
        EXPECT_EQ((*device)->import(all).status, (exit_status{0, 0}));
        sync(**device);
    }
    sync(*one);
    EXPECT_EQ(tasks_of(*one), tasks_of(*other));
    std::set<std::string> descriptions;
    for (const auto& [uuid, task] : tasks_of(*one))
        descriptions.insert(text_in(task, "description"));
    EXPECT_EQ(descriptions,
              (std::set<std::string>{"before", "of one, by the other", "not sent yet"}));
}

}  // namespace
}  // namespace callsign::testing
