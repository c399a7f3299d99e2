// Goal: Taskwarriors that edit the same tasks, write more than fits into a version, and sync
// concurrently, while responses are lost and the server is killed, converge, and lose nothing that
// one of them wrote. Method: the real programs behind a proxy that cuts connections; then the
// faults end, all replicas sync, and are compared. There are three kinds of accounts: managed,
// opaque, and opaque without the turnstile, that is with the rules of TaskChampion's reference
// server. Where the server cannot distinguish devices, changes do get lost; the test counts them
// for docs/architecture.md.

#include "support/recording_proxy.hpp"
#include "support/setting.hpp"
#include "taskwarrior_fixture.hpp"

#include <atomic>
#include <iostream>
#include <random>
#include <semaphore>
#include <thread>

namespace callsign::testing {
namespace {

// Each seed is a run with a separate account. Without the setting there is one short run.
const auto seeds_wanted = setting("CALLSIGN_HAMMER_SEEDS");
const bool is_long = seeds_wanted.has_value();
// Percentage of edits that exceed the size of a version.
const int much_in_hundred = static_cast<int>(setting("CALLSIGN_HAMMER_MUCH").value_or(33));
const int editors = is_long ? 5 : 3;
const int edit_rounds = is_long ? 4 : 2;
constexpr int contested_tasks = 6;
constexpr std::size_t shared_text_bytes = 60'000;
constexpr std::size_t new_text_bytes = 9'900;
constexpr int cuts_in_hundred = 5;
// A sync that gets 503 is retried.
constexpr int quiet_syncs_max = 5;

// An attribute that is written once, by one replica.
std::string own_attribute(int who, int round, char which) {
    return "by" + std::to_string(who) + "r" + std::to_string(round) + which;
}

// By task and attribute.
using own_values = std::map<std::pair<std::string, std::string>, std::string>;

// An editing replica, and the values that no other replica overwrites.
struct editor {
    std::unique_ptr<taskwarrior> replica;
    std::mt19937_64 chance{};
    own_values own{};

    int below(int limit) { return static_cast<int>(chance() % static_cast<unsigned>(limit)); }

    void modify(const std::vector<std::string>& uuids, const std::string& attribute,
                const std::string& value, const std::vector<std::string>& contested) {
        std::vector<std::string> words = uuids;
        words.insert(words.end(), {"modify", attribute + ":" + value});
        words.insert(words.end(), contested.begin(), contested.end());
        const finished done = (*replica)(words);
        EXPECT_EQ(done.status, (exit_status{0, 0})) << done.err;
        for (const std::string& uuid : uuids) own[{uuid, attribute}] = value;
    }
    void edit_a_few(int who, int round, char which) {
        std::vector<std::string> uuids;
        for (int n = 0; n < contested_tasks; ++n) {
            if (below(2) == 0) uuids.push_back(numbered_uuid(n));
        }
        if (uuids.empty()) uuids.push_back(numbered_uuid(0));
        const std::string mark = std::to_string(who) + "." + std::to_string(round) + which;
        const std::vector<std::vector<std::string>> kinds{
            {"Text " + mark, "project:p" + mark},
            {below(2) == 0 ? "priority:H" : "priority:"},
            {below(2) == 0 ? "+fine" : "-fine"},
            {below(2) == 0 ? "status:completed" : "status:pending"}};
        modify(uuids, own_attribute(who, round, which), mark,
               kinds[static_cast<std::size_t>(below(static_cast<int>(kinds.size())))]);
    }
    // 1.5 to 3 MB: several versions.
    void write_much(int who, int round) {
        const std::string mark = std::to_string(who) + "." + std::to_string(round);
        json::array all;
        const int first = (who * 100 + round) * 1'000;
        for (int n = first; n < first + 115 + below(150); ++n) {
            all.push_back({{"uuid", numbered_uuid(n, 'b')},
                           {"description", "New " + mark},
                           {"notes", std::string(new_text_bytes, 'x')}});
            own[{numbered_uuid(n, 'b'), "description"}] = "New " + mark;
        }
        const finished done = replica->import(json::serialize(all));
        EXPECT_EQ(done.status, (exit_status{0, 0})) << done.err;
        std::vector<std::string> uuids;
        for (int n = 0; n < contested_tasks; ++n) uuids.push_back(numbered_uuid(n));
        const char letter = static_cast<char>('a' + (who + round) % 26);
        modify(uuids, own_attribute(who, round, 'm'), mark,
               {"notes:" + std::string(shared_text_bytes, letter)});
    }
    void change(int who, int round) {
        edit_a_few(who, round, 'a');
        if (is_long ? below(100) < much_in_hundred : who == round) {
            write_much(who, round);
            edit_a_few(who, round, 'z');
        }
    }
};

std::string shortened(const std::string& text) {
    constexpr std::size_t shown = 40;
    return text.size() <= shown
               ? text
               : text.substr(0, shown) + "... " + std::to_string(text.size()) + " bytes";
}

// The result of one run.
struct outcome {
    int written = 0;    // values that one replica alone wrote
    int missing = 0;    // of these, values that some replica lacks
    int differing = 0;  // tasks of a replica or of REST that differ from a new replica's
    int passes = 0;     // final syncs of each replica
    std::string words{};

    bool says_as(const outcome& other) const {
        return missing == other.missing && differing == other.differing && words == other.words;
    }
    bool is_apart() const { return missing + differing > 0 || !words.empty(); }
    void tell(const std::string& line) {
        if (words.size() < 4'000) words += line + "\n";
    }
    void compare(const std::string& whose, const std::string& uuid, const plain_task& its,
                 const plain_task& agreed) {
        if (its == agreed) return;
        ++differing;
        std::map<std::string, std::pair<std::string, std::string>> values;
        for (const auto& [name, value] : its) values[name].first = value;
        for (const auto& [name, value] : agreed) values[name].second = value;
        for (const auto& [name, both] : values) {
            if (both.first == both.second) continue;
            tell(whose + " " + uuid + " " + name + ": '" + shortened(both.first) + "' against '" +
                 shortened(both.second) + "'");
        }
    }
};

using plain_table = std::map<std::string, plain_task>;

plain_table plain_tasks_of(const taskwarrior& replica) {
    plain_table all;
    for (const auto& [uuid, task] : tasks_of(replica)) all[uuid] = plain_export(task);
    return all;
}

class hammer_test : public managed_test {
  protected:
    enum class server_rules { managed, opaque, reference };

    // Returns the number of runs that diverged.
    int hammer(server_rules what) {
        std::vector<std::string> flags;
        if (what == server_rules::reference) {
            const std::string file = temp_path("callsign.toml").string();
            std::ofstream(file) << "[sync]\nturnstile = \"0ms\"\n";
            flags = {"--config", file};
        }
        begin(flags);
        const std::uint64_t first = system_seed();
        const std::uint64_t seeds = seeds_wanted.value_or(1);
        int apart = 0, written = 0, missing = 0, differing = 0;
        for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
            const outcome seen = run_with(what, seed);
            apart += seen.is_apart() ? 1 : 0;
            written += seen.written;
            missing += seen.missing;
            differing += seen.differing;
            std::cout << "seed " << seed << ": " << (seen.is_apart() ? "apart, " : "together, ")
                      << seen.missing << " missing, " << seen.differing << " differing, "
                      << seen.passes << " quiet syncs\n"
                      << seen.words << std::flush;
        }
        std::cout << apart << " of " << seeds << " apart, " << missing << " of " << written
                  << " missing, " << differing << " differing\n";
        expect_sound();
        return apart;
    }

  private:
    outcome run_with(server_rules what, std::uint64_t seed) {
        std::mt19937_64 chance(seed);
        const std::string account = "account" + std::to_string(seed);
        std::vector<std::string> words{"account", "create", account, "--prefix", "SYN"};
        if (what != server_rules::managed) words.emplace_back("--opaque");
        const json::object made = ask_callsign(words);
        const auto make_replica = [&](const std::string& name) {
            if (what != server_rules::managed) {
                return std::make_unique<taskwarrior>(program, s->port(), text_in(made, "clientId"),
                                                     "a secret of their own");
            }
            const auto added = ask_callsign({"device", "add", account, "--name", name});
            return std::make_unique<taskwarrior>(program, text_in(added, "taskrc"));
        };
        std::vector<editor> all;
        for (int who = 0; who < editors; ++who) {
            all.push_back(
                {make_replica("device" + std::to_string(who)), std::mt19937_64(chance())});
            prepare(*all.back().replica);
        }
        json::array shared;
        for (int n = 0; n < contested_tasks; ++n) {
            shared.push_back({{"uuid", numbered_uuid(n)}, {"description", "Shared"}});
        }
        expect_done(all[0].replica->import(json::serialize(shared)));
        for (const editor& each : all) expect_done(each.replica->sync());

        make_trouble(all, chance);
        for (const editor& each : all) each.replica->move_to(s->port());
        const auto newcomer = make_replica("newcomer");
        prepare(*newcomer);
        const auto others = [&](const std::string& uuid) {
            return what == server_rules::managed ? rest_of(text_in(made, "token"), uuid)
                                                 : std::optional<plain_task>{};
        };
        const outcome seen = settle(all, *newcomer, others);
        if (seen.is_apart()) keep(what, seed, all, *newcomer);
        return seen;
    }

    static void prepare(const taskwarrior& replica) {
        replica.configure("bulk=0\nuda.notes.type=string");
        for (int who = 0; who < editors; ++who) {
            for (int round = 0; round < edit_rounds; ++round) {
                for (const char which : {'a', 'm', 'z'}) {
                    replica.configure("uda." + own_attribute(who, round, which) + ".type=string");
                }
            }
        }
    }

    // In each round all replicas write, and then all sync. Many syncs are cut off; some are retried
    // at once. In every other round the server is killed.
    void make_trouble(std::vector<editor>& all, std::mt19937_64& chance) {
        using moment = recording_proxy::moment;
        constexpr moment moments[] = {moment::arrived, moment::sent, moment::answered};
        for (int round = 0; round < edit_rounds; ++round) {
            std::atomic<bool> is_killed = false, is_done = false;
            std::counting_semaphore<> happened(0);
            // Destroyed before the objects that the kill uses.
            recording_proxy proxy(s->port());
            proxy.cut_off_some(chance(), cuts_in_hundred);
            for (const editor& each : all) each.replica->move_to(proxy.port());
            if (chance() % 2 == 0) {
                const int nth = 1 + static_cast<int>(chance() % 6);
                const auto kill = proxy.at_next_version(
                    moments[chance() % 3],
                    [&] {
                        s->child().signal(SIGKILL);
                        is_killed = true;
                        happened.release();
                    },
                    nth);
            }
            each_at_once(all, [&](editor& its, int who) { its.change(who, round); });
            std::thread syncing([&] {
                each_at_once(all, [&](editor& its, int) {
                    for (int tries = 1 + its.below(3); tries > 0; --tries) {
                        if (its.replica->sync().status == exit_status{0, 0}) break;
                    }
                });
                is_done = true;
                happened.release();
            });
            while (!is_done) {
                happened.acquire();
                if (is_killed.exchange(false)) {
                    EXPECT_EQ(s->child().wait(timeout), (exit_status{-1, SIGKILL}));
                    s->start();
                }
            }
            syncing.join();
        }
    }

    template <class Do>
    static void each_at_once(std::vector<editor>& all, const Do& what) {
        std::vector<std::thread> threads;
        for (int who = 0; who < editors; ++who) {
            threads.emplace_back([&, who] { what(all[static_cast<std::size_t>(who)], who); });
        }
        for (std::thread& t : threads) t.join();
    }

    // Returns the task as REST shows it.
    std::optional<plain_task> rest_of(const std::string& its_token, const std::string& uuid) const {
        http_client asking(s->port(), its_token);
        const auto shown = asking.get("/v1/tasks/" + uuid);
        if (!shown || shown->status != 200) return plain_task{};
        return plain_answer(json::parse(shown->body).as_object());
    }

    // Syncs all replicas without faults: twice, and again while a sync fails or the replicas
    // differ.
    template <class Others>
    static outcome settle(std::vector<editor>& all, const taskwarrior& newcomer,
                          const Others& others) {
        outcome seen, before;
        for (int pass = 1; pass <= quiet_syncs_max; ++pass) {
            before = std::exchange(seen, {});
            seen.passes = pass;
            for (int who = 0; who < editors; ++who) {
                const finished done = all[static_cast<std::size_t>(who)].replica->sync();
                if (done.status == exit_status{0, 0}) continue;
                seen.tell("replica " + std::to_string(who) + ": " + done.err);
            }
            if (pass == 1 || !seen.words.empty()) continue;
            expect_done(newcomer.sync());
            compare(all, plain_tasks_of(newcomer), others, seen);
            if (!seen.is_apart() || seen.says_as(before)) break;
        }
        return seen;
    }

    template <class Others>
    static void compare(const std::vector<editor>& all, const plain_table& agreed,
                        const Others& others, outcome& seen) {
        std::map<std::string, plain_table> tables{{"newcomer", agreed}};
        for (int who = 0; who < editors; ++who) {
            tables["replica " + std::to_string(who)] =
                plain_tasks_of(*all[static_cast<std::size_t>(who)].replica);
        }
        for (const auto& [uuid, task] : agreed) {
            if (const auto its = others(uuid)) tables["REST"][uuid] = *its;
        }
        for (const auto& [whose, table] : tables) {
            std::set<std::string> uuids;
            for (const auto& [uuid, task] : agreed) uuids.insert(uuid);
            for (const auto& [uuid, task] : table) uuids.insert(uuid);
            const auto in = [](const plain_table& t, const std::string& uuid) {
                const auto found = t.find(uuid);
                return found == t.end() ? plain_task{} : found->second;
            };
            for (const std::string& uuid : uuids) {
                seen.compare(whose, uuid, in(table, uuid), in(agreed, uuid));
            }
        }
        for (int who = 0; who < editors; ++who) {
            for (const auto& [where, value] : all[static_cast<std::size_t>(who)].own) {
                ++seen.written;
                for (const auto& [whose, table] : tables) {
                    const auto task = table.find(where.first);
                    const auto found = task == table.end() ? plain_task::const_iterator{}
                                                           : task->second.find(where.second);
                    if (task != table.end() && found != task->second.end() &&
                        found->second == value) {
                        continue;
                    }
                    ++seen.missing;
                    seen.tell(whose + " lacks of replica " + std::to_string(who) + ": " +
                              where.first + " " + where.second);
                    break;
                }
            }
        }
    }

    // Keeps the data of replicas and server for inspection.
    void keep(server_rules what, std::uint64_t seed, const std::vector<editor>& all,
              const taskwarrior& newcomer) {
        const char* const where = std::getenv("CALLSIGN_HAMMER_KEEP");
        if (where == nullptr) return;
        const auto dir = std::filesystem::path(where) /
                         (std::to_string(static_cast<int>(what)) + "-" + std::to_string(seed));
        const auto copy = [&](const std::filesystem::path& from, const std::string& name) {
            std::filesystem::create_directories(dir / name);
            std::filesystem::copy(from, dir / name,
                                  std::filesystem::copy_options::recursive |
                                      std::filesystem::copy_options::overwrite_existing);
        };
        const auto home = [](const taskwarrior& its) {
            std::string text = its({"_get", "rc.data.location"}).out;
            while (!text.empty() && text.back() == '\n') text.pop_back();
            return text;
        };
        for (std::size_t who = 0; who < all.size(); ++who) {
            copy(home(*all[who].replica), "replica" + std::to_string(who));
        }
        copy(home(newcomer), "newcomer");
        copy(data_dir(), "server");
        std::ofstream(dir / "log") << s->child().errors();
    }
};

TEST_F(hammer_test, a_managed_account_loses_nothing) {
    EXPECT_EQ(hammer(server_rules::managed), 0);
}

// These two tests only count losses.
TEST_F(hammer_test, an_opaque_account) {
    if (!is_long) GTEST_SKIP() << "Set CALLSIGN_HAMMER_SEEDS to count what it loses.";
    hammer(server_rules::opaque);
}

TEST_F(hammer_test, the_rules_of_the_reference_server) {
    if (!is_long) GTEST_SKIP() << "Set CALLSIGN_HAMMER_SEEDS to count what they lose.";
    hammer(server_rules::reference);
}

}  // namespace
}  // namespace callsign::testing
