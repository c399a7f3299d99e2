// Goal: the clients in examples/, from which users copy code, keep their guarantees: every task
// added with exit status 0 is on the server exactly once, whatever is killed, and their local
// stores equal the server's tasks.
//
// Method: two folders of one account. In one of them the client follows changes; in the other it
// syncs occasionally. Both add, edit and complete tasks while the server, the follower and the
// syncs are killed at random moments. Each test runs with each of the clients. CALLSIGN_SYSTEM_SEED
// determines moments and actions.

#include "fixture.hpp"
#include "support/setting.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <map>
#include <optional>
#include <poll.h>
#include <random>
#include <set>
#include <sstream>
#include <thread>

namespace callsign::testing {
namespace {

const std::filesystem::path examples =
    std::filesystem::path(CALLSIGN_README).parent_path() / "examples";

struct language {
    std::string name;
    std::string interpreter;
    std::string package;  // Debian package
    std::string file;
};

void PrintTo(const language& l, std::ostream* out) {
    *out << l.name;
}

// Prefers the distribution's interpreter to others in PATH.
std::string found_interpreter(const std::string& name) {
    const std::string usual = "/usr/bin/" + name;
    return std::filesystem::exists(usual) ? usual : name;
}

const std::vector<language> languages{{"python", "python3", "python3", "python/todo.py"},
                                      {"node", "node", "nodejs", "node/todo.mjs"}};

using task_table = std::map<std::string, json::object>;  // by UUID

task_table table_of(const json::array& tasks) {
    task_table table;
    for (const json::value& task : tasks) {
        table[std::string(task.at("uuid").as_string())] = task.as_object();
    }
    return table;
}

std::set<std::string> tags_of(const json::object& task) {
    std::set<std::string> tags;
    const auto* const given = task.if_contains("tags");
    if (given == nullptr) return tags;
    for (const json::value& tag : given->as_array()) tags.emplace(tag.as_string());
    return tags;
}

// One folder, and the commands run in it.
class todo {
  public:
    using words = std::vector<std::string>;

    todo(const language& l, std::filesystem::path folder)
        : start_{found_interpreter(l.interpreter), (examples / l.file).string(), "--dir",
                 folder.string()},
          folder_(std::move(folder)) {}

    finished run(const words& more) const {
        return testing::run(with(more), timeout, own_environment());
    }
    process begin(const words& more) const { return process(with(more), own_environment()); }

    // Returns the output; fails the test if the exit status is not 0.
    std::string operator()(const words& more) const {
        const finished done = run(more);
        EXPECT_EQ(done.status, (exit_status{0, 0})) << more[0] << ": " << done.out << done.err;
        return done.out;
    }
    // Returns the UUID.
    std::string add(words more) const {
        more.insert(more.begin(), "add");
        std::string uuid = (*this)(more);
        while (!uuid.empty() && uuid.back() == '\n') uuid.pop_back();
        return uuid;
    }
    task_table shown() const {
        boost::system::error_code error;
        const json::value tasks = json::parse((*this)({"show", "--json"}), error);
        EXPECT_FALSE(error);
        return error ? task_table{} : table_of(tasks.as_array());
    }
    std::size_t entries(const std::string& folder) const {
        std::size_t count = 0;
        for (const auto& file : std::filesystem::directory_iterator(folder_ / folder)) {
            count += file.path().extension() == ".json" ? 1 : 0;
        }
        return count;
    }

  private:
    words with(const words& more) const {
        words all = start_;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    static std::vector<std::pair<std::string, std::string>> own_environment() {
        return {{"CALLSIGN_SERVER", ""}, {"CALLSIGN_TOKEN", ""}};
    }

    words start_;
    std::filesystem::path folder_;
};

class examples_test : public system_test, public ::testing::WithParamInterface<language> {
  protected:
    void SetUp() override {
        const language& l = GetParam();
        const finished asked = run({found_interpreter(l.interpreter), "--version"}, timeout);
        if (asked.status != exit_status{0, 0}) {
            GTEST_SKIP() << "NO " << l.interpreter << ": it is in Debian's package " << l.package
                         << ". No test was run with that client.";
        }
        // So that the client receives heartbeats, too.
        s = start({}, {{"CALLSIGN_FEED_HEARTBEAT", "1s"}});
        token = make_account(*s, "house", "SYN");
    }

    todo folder(const std::string& name) const {
        todo made(GetParam(), temp_path(name));
        made({"init", "--server", "http://127.0.0.1:" + std::to_string(s->port()), "--token",
              token});
        return made;
    }

    json::object get(const std::string& target) const {
        http_client client(s->port(), token);
        const auto answer = client.get(target);
        EXPECT_TRUE(answer && answer->status == 200) << target << (answer ? answer->body : "");
        return answer && answer->status == 200 ? json::parse(answer->body).as_object()
                                               : json::object{};
    }

    // Returns the tasks of all pages, with any status.
    task_table listed() const {
        const std::string query =
            "/v1/tasks?status=pending&status=completed&status=deleted&pageSize=25";
        task_table all;
        std::string page_token;
        do {
            const json::object page = get(query + page_token);
            if (page.contains("tasks")) all.merge(table_of(page.at("tasks").as_array()));
            const auto* const next = page.if_contains("nextPageToken");
            page_token = next ? "&pageToken=" + std::string(next->as_string()) : "";
        } while (!page_token.empty() && !HasFailure());
        return all;
    }

    // Returns once the account has a change after `cursor`.
    void await_change_after(const std::string& cursor) const {
        json::object heard;
        do {
            heard = get("/v1/changes?wait=30s&after=" + cursor);
        } while (!HasFailure() && heard.at("changes").as_array().empty());
    }
    std::string cursor_now() const {
        return std::string(get("/v1/changes?after=now").at("cursor").as_string());
    }

    int answered(const std::string& route, const std::string& status) const {
        http_client anyone(s->port());
        const auto metrics = anyone.get("/metrics");
        const std::string line =
            "callsign_http_requests_total{route=\"" + route + "\",status=\"" + status + "\"} ";
        const auto at = metrics ? metrics->body.find(line) : std::string::npos;
        return at == std::string::npos ? 0 : std::stoi(metrics->body.substr(at + line.size()));
    }

    // Kills the client after its first request was sent, and before it receives the response.
    void kill_before_the_answer(const todo& client) const {
        using tcp = boost::asio::ip::tcp;
        boost::asio::io_context io;
        tcp::acceptor listening(io, {boost::asio::ip::address_v4::loopback(), 0});
        const std::string port = std::to_string(listening.local_endpoint().port());
        process syncing = client.begin({"sync", "--server", "http://127.0.0.1:" + port});
        pollfd waiting{listening.native_handle(), POLLIN, 0};
        ASSERT_EQ(::poll(&waiting, 1, static_cast<int>(timeout.count())), 1) << syncing.errors();
        tcp::socket socket = listening.accept();
        boost::beast::flat_buffer buffer;
        boost::beast::http::request<boost::beast::http::string_body> request;
        boost::beast::http::read(socket, buffer, request);
        std::ostringstream bytes;
        bytes << request;
        http_client passing_on(s->port());
        ASSERT_TRUE(passing_on.send(bytes.str()));
        const auto answer = passing_on.receive();
        EXPECT_TRUE(answer && answer->status == 200) << (answer ? answer->body : "");
        syncing.kill();
    }

    void expect_same_as_the_server(const todo& client) const {
        const task_table theirs = client.shown(), ours = listed();
        EXPECT_EQ(theirs.size(), ours.size());
        for (const auto& [uuid, task] : ours) {
            const auto found = theirs.find(uuid);
            ASSERT_NE(found, theirs.end()) << json::serialize(task);
            EXPECT_TRUE(found->second == task)
                << json::serialize(found->second) << "\nagainst " << json::serialize(task);
        }
    }

    // The keys are SYN-1 to SYN-n, each once.
    static void expect_keys_without_a_hole(const task_table& tasks) {
        std::set<std::string> keys, wanted;
        for (const auto& [uuid, task] : tasks) keys.emplace(task.at("key").as_string());
        for (std::size_t n = 1; n <= tasks.size(); ++n) wanted.insert("SYN-" + std::to_string(n));
        EXPECT_EQ(keys, wanted);
    }

    std::unique_ptr<server> s;
    std::string token;
};

INSTANTIATE_TEST_SUITE_P(clients, examples_test, ::testing::ValuesIn(languages),
                         [](const auto& with) { return with.param.name; });

// ---- kills ----

// Tasks added with exit status 0, which must be on the server at the end.
struct noted {
    std::map<std::string, std::string> description{};  // by UUID
    std::set<std::string> completed{};
    std::map<std::string, std::set<std::string>> tags{};
    // Added by a command that was killed: on the server at most once.
    std::set<std::string> perhaps{};
};

class crew {
  public:
    crew(server& s, todo phone, todo laptop, std::uint64_t seed)
        : s_(s), phone_(std::move(phone)), laptop_(std::move(laptop)), random_(seed) {}

    void work(int steps) {
        following_.emplace(phone_.begin({"follow"}));
        while (steps_ < steps && !::testing::Test::HasFailure()) {
            if (random_() % 8 == 0) {
                linger(50);
                s_.child().kill();
                is_up_ = false;
                for (auto more = random_() % 5; more > 0; --more) step();
                s_.start();
                is_up_ = true;
            } else {
                step();
            }
        }
        following_->kill();
        if (syncing_) syncing_->kill();
    }

    const noted& book() const { return book_; }

  private:
    // Runs with or without a server.
    void step() {
        const int n = ++steps_;
        switch (random_() % 10) {
        case 0:
        case 1: restart_follower(); break;
        case 2: add_and_kill(n); break;
        case 3:
        case 4: sync_laptop(); break;
        case 5: complete(); break;
        case 6:
        case 7: edit(n); break;
        default: add(n);
        }
    }

    const todo& draw_client() { return random_() % 2 == 0 ? phone_ : laptop_; }

    // A random delay, so that what follows happens at any point of the work in progress; nothing is
    // expected to have happened by its end.
    void linger(unsigned most_ms) {
        std::this_thread::sleep_for(std::chrono::microseconds(random_() % (most_ms * 1000)));
    }

    void add(int n) {
        const std::string text = "Task " + std::to_string(n) + " \"ä\" \\ \u2028";
        const todo& client = draw_client();
        const std::string uuid = client.add({text, "--project", "Home", "--tag", "new"});
        book_.description[uuid] = text;
        book_.tags[uuid].insert("new");
        mine_[&client].push_back(uuid);
    }
    void add_and_kill(int n) {
        const std::string text = "Perhaps " + std::to_string(n);
        process adding = draw_client().begin({"add", text});
        linger(60);
        adding.kill();
        book_.perhaps.insert(text);
    }

    // A task and the folder that added it, where it is always known.
    std::optional<std::pair<const todo*, std::string>> draw_task() {
        const todo& client = draw_client();
        const auto& uuids = mine_[&client];
        if (uuids.empty()) return std::nullopt;
        return std::pair(&client, uuids[random_() % uuids.size()]);
    }
    void complete() {
        const auto drawn = draw_task();
        if (!drawn) return;
        (*drawn->first)({"done", drawn->second});
        book_.completed.insert(drawn->second);
    }
    // Edits tasks of either folder, where they are already known.
    void edit(int n) {
        const auto drawn = draw_task();
        if (!drawn) return;
        const std::string tag = "t" + std::to_string(n);
        const std::vector<std::string> words{"edit", drawn->second, "--tag", tag};
        if (random_() % 2 == 0) {
            (*drawn->first)(words);
            book_.tags[drawn->second].insert(tag);
        } else {
            const todo& other = drawn->first == &phone_ ? laptop_ : phone_;
            if (other.run(words).status == exit_status{0, 0}) {
                book_.tags[drawn->second].insert(tag);
            }
        }
    }

    void restart_follower() {
        linger(50);
        following_->kill();
        following_.emplace(phone_.begin({"follow"}));
    }
    // The sync runs concurrently with the next steps, is killed, or is waited for.
    void sync_laptop() {
        if (syncing_) {
            if (!is_up_ || random_() % 2 == 0) syncing_->kill();
            const auto ended = syncing_->wait(timeout);
            const bool may_be = ended == exit_status{0, 0} || ended == exit_status{3, 0} ||
                                ended == exit_status{-1, SIGKILL};
            EXPECT_TRUE(may_be) << syncing_->errors();
        }
        syncing_.emplace(laptop_.begin({"sync"}));
        linger(200);
        if (random_() % 3 == 0) syncing_->kill();
    }

    server& s_;
    todo phone_, laptop_;
    std::mt19937_64 random_;
    int steps_ = 0;
    bool is_up_ = true;
    noted book_;
    std::map<const todo*, std::vector<std::string>> mine_;
    std::optional<process> following_;
    std::optional<process> syncing_;
};

TEST_P(examples_test, what_was_noted_survives_kills_at_any_instant) {
    const auto seed = system_seed();
    SCOPED_TRACE("CALLSIGN_SYSTEM_SEED=" + std::to_string(seed));
    const todo phone = folder("phone"), laptop = folder("laptop");
    crew all(*s, phone, laptop, seed);
    all.work(static_cast<int>(times(30)));
    ASSERT_FALSE(HasFailure());
    phone({"sync"});
    laptop({"sync"});
    phone({"sync"});

    const task_table tasks = listed();
    std::set<std::string> perhaps;
    for (const auto& [uuid, task] : tasks) {
        const std::string description(task.at("description").as_string());
        if (all.book().description.contains(uuid)) {
            EXPECT_EQ(description, all.book().description.at(uuid));
        } else {
            EXPECT_TRUE(all.book().perhaps.contains(description)) << description;
            EXPECT_TRUE(perhaps.insert(description).second) << "twice: " << description;
        }
    }
    EXPECT_EQ(tasks.size(), all.book().description.size() + perhaps.size());
    for (const std::string& uuid : all.book().completed) {
        EXPECT_EQ(tasks.at(uuid).at("status").as_string(), "completed");
    }
    for (const auto& [uuid, tags] : all.book().tags) EXPECT_EQ(tags_of(tasks.at(uuid)), tags);
    expect_keys_without_a_hole(tasks);
    for (const todo* const client : {&phone, &laptop}) {
        expect_same_as_the_server(*client);
        EXPECT_EQ(client->entries("outbox"), 0u);
        EXPECT_EQ(client->entries("rejected"), 0u);
    }
    s->child().kill();
    expect_sound();
}

// ---- single events ----

TEST_P(examples_test, tasks_are_noted_offline_and_sent_later) {
    const todo laptop = folder("laptop");
    s->child().kill();
    const std::string uuid = laptop.add({"First"});
    laptop.add({"Second", "--due", "2027-01-31T10:00:00Z"});
    laptop({"edit", uuid.substr(0, 8), "--description", "First of all", "--project", "Home"});
    const std::string before = laptop({"list"});
    EXPECT_NE(before.find("First of all"), before.npos) << before;
    EXPECT_EQ(before.find("SYN-"), before.npos) << before;

    process sync = laptop.begin({"sync"});  // retries until there is a server
    s->start();
    EXPECT_EQ(sync.wait(timeout), (exit_status{0, 0})) << sync.errors();
    EXPECT_EQ(laptop.entries("outbox"), 0u);
    const std::string after = laptop({"list"});
    EXPECT_NE(after.find("SYN-1"), after.npos) << after;
    EXPECT_NE(after.find("SYN-2"), after.npos) << after;
    const json::object first = get("/v1/tasks/SYN-1");
    EXPECT_EQ(first.at("description"), "First of all");
    EXPECT_EQ(first.at("uuid").as_string(), uuid);
    laptop({"done", "syn-1"});
    laptop({"sync"});
    EXPECT_EQ(get("/v1/tasks/SYN-1").at("status"), "completed");
    expect_same_as_the_server(laptop);
}

TEST_P(examples_test, what_was_sent_before_a_kill_is_sent_again) {
    const todo laptop = folder("laptop");
    const std::string uuid = laptop.add({"Sent twice"});
    kill_before_the_answer(laptop);
    EXPECT_EQ(laptop.entries("outbox"), 1u);
    laptop({"sync"});
    EXPECT_EQ(laptop.entries("outbox"), 0u);
    laptop({"edit", uuid, "--tag", "first"});
    laptop({"edit", uuid, "--tag", "second"});
    kill_before_the_answer(laptop);
    EXPECT_EQ(laptop.entries("outbox"), 2u);
    laptop({"sync"});
    const task_table tasks = listed();
    ASSERT_EQ(tasks.size(), 1u);
    EXPECT_EQ(tags_of(tasks.at(uuid)), (std::set<std::string>{"first", "second"}));
    EXPECT_EQ(tasks.at(uuid).at("seq"), 3);
    expect_same_as_the_server(laptop);
}

TEST_P(examples_test, edits_of_one_task_in_two_places_both_hold) {
    const todo phone = folder("phone"), laptop = folder("laptop");
    phone.add({"Before", "--tag", "old"});
    phone({"sync"});
    laptop({"sync"});
    phone({"edit", "SYN-1", "--description", "After", "--tag", "phone"});
    laptop({"edit", "SYN-1", "--project", "Home", "--tag", "laptop", "--untag", "old"});
    laptop({"edit", "SYN-1", "--due", "2027-01-31T10:00:00Z"});
    phone({"sync"});
    EXPECT_EQ(answered("/v1/tasks/{ref}", "4xx"), 0);
    laptop({"sync"});
    EXPECT_EQ(answered("/v1/tasks/{ref}", "4xx"), 1);  // the 412
    phone({"sync"});
    const json::object task = get("/v1/tasks/SYN-1");
    EXPECT_EQ(task.at("description"), "After");
    EXPECT_EQ(task.at("project"), "Home");
    EXPECT_EQ(task.at("due"), "2027-01-31T10:00:00.000Z");
    EXPECT_EQ(tags_of(task), (std::set<std::string>{"laptop", "phone"}));
    expect_same_as_the_server(phone);
    expect_same_as_the_server(laptop);
}

TEST_P(examples_test, what_is_rejected_is_set_aside_and_blocks_nothing) {
    const todo laptop = folder("laptop");
    const std::string rejected = laptop.add({""});
    laptop.add({"When", "--due", "soon"});
    laptop({"edit", rejected, "--project", "Home"});
    laptop.add({"Good"});
    const finished first = laptop.run({"sync"});
    EXPECT_EQ(first.status, (exit_status{1, 0})) << first.err;
    EXPECT_NE(first.err.find("RFC 3339"), first.err.npos) << first.err;
    EXPECT_EQ(laptop.entries("outbox"), 0u);
    EXPECT_EQ(laptop.entries("rejected"), 3u);
    EXPECT_EQ(get("/v1/tasks/SYN-1").at("description"), "Good");
    expect_same_as_the_server(laptop);
    const std::string list = laptop({"list"});
    EXPECT_NE(list.find("Rejected: "), list.npos) << list;
    laptop({"sync"});
}

TEST_P(examples_test, followers_send_local_changes_and_receive_the_rest) {
    const todo phone = folder("phone"), laptop = folder("laptop");
    process following = phone.begin({"follow"});
    // Each client waits for the other's change.
    const std::string before = cursor_now();
    phone.add({"From the phone"});
    await_change_after(before);
    laptop({"sync"});
    laptop({"done", "SYN-1"});
    laptop.add({"From the laptop"});
    laptop({"sync"});
    const auto await_line = [&](const std::string& part) {
        while (const auto line = following.read_line(timeout)) {
            if (line->find(part) != line->npos) return;
        }
        ADD_FAILURE() << "change not received: " << part << following.errors();
    };
    await_line("From the laptop");
    const finished second = phone.run({"sync"});
    EXPECT_EQ(second.status, (exit_status{3, 0})) << second.err;
    http_client client(s->port(), token);
    EXPECT_EQ(client.request("DELETE", "/v1/tasks/SYN-1?purge=true")->status, 204u);
    await_line("purged");
    following.kill();
    phone({"sync"});
    EXPECT_EQ(phone.shown().size(), 1u);
    expect_same_as_the_server(phone);
}

// After a restore from a backup, cursors and tasks may belong to a lost history.
TEST_P(examples_test, a_restored_server_is_noticed) {
    const todo laptop = folder("laptop");
    laptop.add({"Kept"});
    laptop({"sync"});
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    std::filesystem::copy(data_dir(), temp_path("backup"),
                          std::filesystem::copy_options::recursive);
    s->start();
    laptop.add({"Lost"});
    laptop({"done", "SYN-1"});
    laptop({"sync"});
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    std::filesystem::remove_all(data_dir());
    std::filesystem::rename(temp_path("backup"), data_dir());
    s->start();
    laptop.add({"Later"});
    laptop({"sync"});
    expect_same_as_the_server(laptop);
    EXPECT_EQ(laptop.shown().size(), 2u);
    EXPECT_EQ(get("/v1/tasks/SYN-2").at("description"), "Later");
}

}  // namespace
}  // namespace callsign::testing
