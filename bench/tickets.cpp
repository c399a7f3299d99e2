// tickets: a load test with boards, clients and tickets. Each client creates its tickets over HTTP
// and retries with the same key until it has a definite response, while callsignd is killed with
// SIGKILL at random moments and restarted. At the end each board must have exactly the numbers
// 1..n, every receipt must be returned byte for byte, and `callsign check` must find no errors.
//
//     tickets                                          2 boards, 10 clients each, 1000 tickets each
//     tickets --boards 1 --clients 2 --tickets 20 --kills 1          smallest useful run
//
// Exits with 1 if anything was lost, duplicated or changed.

#include "options.hpp"
#include "support/retrying_client.hpp"
#include "support/server.hpp"
#include "support/temp_dir.hpp"

#include <algorithm>
#include <atomic>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <csignal>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace callsign::bench {
namespace {

namespace json = boost::json;
using steady_clock = std::chrono::steady_clock;
using random_source = std::mt19937_64;
using counts = testing::retrying_client::counts;

struct settings {
    unsigned boards = 2;
    unsigned clients = 10;    // per board
    unsigned tickets = 1000;  // per client
    unsigned kills = 3;
    std::uint64_t seed = 0;
    std::string program;
    std::string data_parent;
    milliseconds deadline = std::chrono::minutes{10};
    bool keep = false;

    std::uint64_t total() const { return std::uint64_t{boards} * clients * tickets; }
};

// ---- state ----

struct ticket {
    std::string key;
    std::string body;
    std::string receipt;  // first acknowledged one; empty: none
};

class violations {
  public:
    void add(std::string text) {
        const std::lock_guard lock(mutex_);
        ++count_;
        if (texts_.size() < 20) texts_.push_back(std::move(text));
    }
    std::size_t count() const {
        const std::lock_guard lock(mutex_);
        return count_;
    }
    void print() const {
        for (const std::string& text : texts_) std::cerr << "violation: " << text << "\n";
        if (count_ > texts_.size()) std::cerr << "... and " << count_ - texts_.size() << " more\n";
    }

  private:
    mutable std::mutex mutex_;
    std::size_t count_ = 0;
    std::vector<std::string> texts_;
};

// State shared by all clients of a run.
struct field {
    const settings& s;
    std::uint16_t port;
    std::string token;
    steady_clock::time_point give_up_at;
    std::atomic<std::uint64_t> acknowledged{0};
    std::atomic<bool> hopeless{false};  // the server cannot be restarted
    violations wrong{};
};

std::string board_name(unsigned n) {
    return "BOARD" + std::to_string(n + 1);
}

// ---- client ----

class client {
  public:
    client(field& f, unsigned board, unsigned number)
        : field_(f), sender_(f.port, f.token, seed_of(f, board, number)) {
        random_source random(seed_of(f, board, number));
        for (unsigned i = 0; i < f.s.tickets; ++i)
            tickets_.push_back({testing::random_key(random),
                                "{\"description\":\"Ticket " + std::to_string(i + 1) +
                                    " of client " + std::to_string(number + 1) +
                                    "\",\"prefix\":\"" + board_name(board) + "\"}",
                                {}});
    }

    void file_all() {
        const auto give_up = [this] {
            return field_.hopeless || steady_clock::now() > field_.give_up_at;
        };
        for (ticket& t : tickets_) {
            const auto answer = sender_.create(t.key, t.body, give_up);
            if (!answer) {
                field_.wrong.add("no definite response in time for key " + t.key);
            } else if (answer->status != 201) {
                field_.wrong.add("key " + t.key + ": answered " + std::to_string(answer->status) +
                                 " " + answer->body);
            } else {
                t.receipt = answer->body;
            }
            ++field_.acknowledged;
            field_.acknowledged.notify_one();
        }
    }

    // Retries all creations on the idle server: each response must equal the acknowledged one.
    void ask_again() {
        sender_.http().close();  // the server may have been killed since the last request
        for (const ticket& t : tickets_) {
            const auto answer = sender_.try_once(t.key, t.body);
            if (!answer || answer->status != 201 || !answer->replayed())
                field_.wrong.add("key " + t.key + ": not replayed");
            else if (answer->body != t.receipt)
                field_.wrong.add("key " + t.key + ": was " + t.receipt + ", now " + answer->body);
            check_slot(t);
        }
    }

    const std::vector<ticket>& tickets() const { return tickets_; }
    const counts& seen() const { return sender_.seen(); }

  private:
    static std::uint64_t seed_of(const field& f, std::uint64_t board, std::uint64_t number) {
        return f.s.seed * 1'000'003 + board * 1'009 + number;
    }

    void check_slot(const ticket& t) {
        const auto answer = sender_.http().get("/v1/slots/" + t.key);
        if (!answer || answer->status != 200) {
            field_.wrong.add("key " + t.key + ": no slot");
            return;
        }
        const json::object slot = json::parse(answer->body).as_object();
        const json::value* receipt = slot.if_contains("receipt");
        if (slot.at("state") != "committed" || receipt == nullptr ||
            *receipt != json::parse(t.receipt))
            field_.wrong.add("key " + t.key + ": was " + t.receipt + ", now " + answer->body);
    }

    field& field_;
    testing::retrying_client sender_;
    std::vector<ticket> tickets_;
};

// ---- kills ----

struct kill_record {
    std::uint64_t acknowledged = 0;
    milliseconds down{};
};

// Kills the server at a random moment after this number of acknowledged tickets, and restarts it.
kill_record kill_after(field& f, testing::server& server, std::uint64_t tickets,
                       random_source& random) {
    for (auto n = f.acknowledged.load(); n < tickets; n = f.acknowledged.load())
        f.acknowledged.wait(n);
    // Without this delay, a kill would always follow a response, and never fall between two
    // commits.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 5000));
    const auto killed = steady_clock::now();
    kill_record record{f.acknowledged.load(), {}};
    server.child().kill();
    server.start();
    record.down = std::chrono::duration_cast<milliseconds>(steady_clock::now() - killed);
    return record;
}

// One kill in each of `kills` equal parts of the run.
std::vector<kill_record> kill_at_random(field& f, testing::server& server) {
    random_source random(f.s.seed);
    std::vector<kill_record> records;
    try {
        for (unsigned i = 0; i < f.s.kills; ++i) {
            const double part = i + 0.1 + 0.8 * std::generate_canonical<double, 53>(random);
            const double share = part / f.s.kills;
            const auto tickets =
                static_cast<std::uint64_t>(share * static_cast<double>(f.s.total()));
            records.push_back(kill_after(f, server, tickets, random));
        }
    } catch (const std::exception& e) {
        f.hopeless = true;
        f.wrong.add(e.what());
    }
    return records;
}

// ---- preparation ----

std::string prepare_account(testing::server& server, const settings& s) {
    testing::http_client as_operator(server.port(), server.admin_token());
    const auto made = as_operator.post_json(
        "/v1/admin/accounts", "{\"name\":\"field\",\"prefix\":\"" + board_name(0) + "\"}");
    if (!made || made->status != 201) throw std::runtime_error("cannot create the account");
    std::string token(json::parse(made->body).at("token").as_string());
    testing::http_client owner(server.port(), token);
    for (unsigned i = 1; i < s.boards; ++i) {
        const auto series = owner.post_json("/v1/series", "{\"prefix\":\"" + board_name(i) + "\"}");
        if (!series || series->status != 201) throw std::runtime_error("cannot create a series");
    }
    return token;
}

// ---- checks ----

struct board_result {
    std::uint64_t acknowledged = 0;
    std::uint64_t distinct = 0;
    std::int64_t highest = 0;
    counts seen;
};

// Verifies every receipt of a board: prefix and key, and together the numbers 1..n.
board_result audit_board(field& f, unsigned board,
                         const std::vector<std::unique_ptr<client>>& clients,
                         std::set<std::string>& uuids, std::set<std::int64_t>& seqs) {
    board_result result;
    std::set<std::int64_t> numbers;
    const std::string prefix = board_name(board);
    for (const auto& c : clients) {
        for (const ticket& t : c->tickets()) {
            if (t.receipt.empty()) continue;
            ++result.acknowledged;
            const json::object r = json::parse(t.receipt).as_object();
            const std::int64_t number = r.at("number").to_number<std::int64_t>();
            if (r.at("key").as_string() != prefix + "-" + std::to_string(number))
                f.wrong.add("a wrong key: " + t.receipt);
            if (!numbers.insert(number).second)
                f.wrong.add("a number assigned twice: " + t.receipt);
            if (!uuids.insert(std::string(r.at("uuid").as_string())).second)
                f.wrong.add("a task created twice: " + t.receipt);
            if (!seqs.insert(r.at("seq").to_number<std::int64_t>()).second)
                f.wrong.add("a seq assigned twice: " + t.receipt);
        }
        result.seen += c->seen();
    }
    result.distinct = numbers.size();
    result.highest = numbers.empty() ? 0 : *numbers.rbegin();
    const std::uint64_t expected = std::uint64_t{f.s.clients} * f.s.tickets;
    if (result.distinct != expected || static_cast<std::uint64_t>(result.highest) != expected)
        f.wrong.add(prefix + " is not exactly 1.." + std::to_string(expected));
    return result;
}

// Verifies the server's next numbers.
void audit_next_numbers(field& f) {
    testing::http_client http(f.port, f.token);
    const auto answer = http.get("/v1/series");
    if (!answer || answer->status != 200) return f.wrong.add("the series cannot be listed");
    const std::int64_t expected = std::int64_t{f.s.clients} * f.s.tickets + 1;
    const json::value list = json::parse(answer->body);
    for (const json::value& series : list.at("series").as_array())
        if (series.at("next").to_number<std::int64_t>() != expected)
            f.wrong.add("an unexpected next number: " + json::serialize(series));
}

void stop_and_check(field& f, testing::server& server, const std::filesystem::path& program,
                    const std::filesystem::path& data) {
    server.child().signal(SIGTERM);
    const auto ended = server.child().wait(std::chrono::seconds(60));
    if (ended != testing::exit_status{0, 0}) f.wrong.add("callsignd failed on SIGTERM");
    const auto checked = testing::run(
        {(program / "callsign").string(), "check", "--data-dir", data.string(), "--json"},
        std::chrono::minutes(5));
    std::cout << "\ncallsign check: " << checked.out << (checked.out.ends_with('\n') ? "" : "\n");
    if (checked.status != testing::exit_status{0, 0}) {
        f.wrong.add("callsign check found errors");
        std::cerr << checked.err;
    }
}

// ---- run ----

using crews = std::vector<std::vector<std::unique_ptr<client>>>;

crews make_clients(field& f) {
    crews all(f.s.boards);
    for (unsigned b = 0; b < f.s.boards; ++b)
        for (unsigned c = 0; c < f.s.clients; ++c)
            all[b].push_back(std::make_unique<client>(f, b, c));
    return all;
}

template <class Work>
std::vector<std::thread> start_all(field& f, const crews& all, Work work) {
    const auto guarded = [&f, work](client& c) {
        try {
            work(c);
        } catch (const std::exception& e) {
            f.wrong.add(std::string("a client failed: ") + e.what());
        }
    };
    std::vector<std::thread> threads;
    for (const auto& crew : all)
        for (const auto& c : crew) threads.emplace_back(guarded, std::ref(*c));
    return threads;
}

void join(std::vector<std::thread> threads) {
    for (std::thread& t : threads) t.join();
}

void print_boards(const settings& s, const std::vector<board_result>& boards) {
    std::printf("\n%-8s %8s %12s %10s %10s %10s %10s %8s\n", "board", "tickets", "numbers",
                "requests", "lost", "replayed", "rejected", "wait");
    for (unsigned b = 0; b < s.boards; ++b) {
        const board_result& r = boards[b];
        const std::string numbers = "1.." + std::to_string(r.highest);
        std::printf("%-8s %8llu %12s %10llu %10llu %10llu %10llu %8llu\n", board_name(b).c_str(),
                    static_cast<unsigned long long>(r.acknowledged), numbers.c_str(),
                    static_cast<unsigned long long>(r.seen.requests),
                    static_cast<unsigned long long>(r.seen.answers_lost),
                    static_cast<unsigned long long>(r.seen.replayed),
                    static_cast<unsigned long long>(r.seen.rejected),
                    static_cast<unsigned long long>(r.seen.told_to_wait));
    }
}

void print_kills(const std::vector<kill_record>& kills) {
    std::printf("\n%-8s %20s %12s\n", "SIGKILL", "after acknowledged", "down");
    for (std::size_t i = 0; i < kills.size(); ++i)
        std::printf("%-8zu %20llu %9lld ms\n", i + 1,
                    static_cast<unsigned long long>(kills[i].acknowledged),
                    static_cast<long long>(kills[i].down.count()));
}

int run(const settings& s) {
    testing::temp_dir parent(s.data_parent);
    if (s.keep) parent.keep();
    const auto data = parent.path() / "data";
    testing::server server({s.program, data, {}, {}});
    field f{s, server.port(), prepare_account(server, s), steady_clock::now() + s.deadline};
    std::printf("%u boards, %u clients each, %u tickets each, %u kills, seed %llu\n", s.boards,
                s.clients, s.tickets, s.kills, static_cast<unsigned long long>(s.seed));

    const crews clients = make_clients(f);
    const auto begin = steady_clock::now();
    auto filing = start_all(f, clients, [](client& c) { c.file_all(); });
    const auto kills = kill_at_random(f, server);
    join(std::move(filing));
    const double seconds = std::chrono::duration<double>(steady_clock::now() - begin).count();
    join(start_all(f, clients, [](client& c) { c.ask_again(); }));

    std::set<std::string> uuids;
    std::set<std::int64_t> seqs;
    std::vector<board_result> boards;
    for (unsigned b = 0; b < s.boards; ++b)
        boards.push_back(audit_board(f, b, clients[b], uuids, seqs));
    audit_next_numbers(f);
    print_boards(s, boards);
    print_kills(kills);
    stop_and_check(f, server, s.program, data);
    std::printf("%llu tickets in %.1f s (%.0f/s), each receipt asked for again: %s\n",
                static_cast<unsigned long long>(s.total()), seconds,
                static_cast<double>(s.total()) / seconds,
                f.wrong.count() == 0 ? "nothing lost, doubled or different" : "VIOLATIONS");
    std::fflush(stdout);
    f.wrong.print();
    return f.wrong.count() == 0 ? 0 : 1;
}

settings read_settings(int argc, char** argv) {
    settings s;
    s.program = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path().string();
    s.data_parent = std::filesystem::temp_directory_path().string();
    options o("tickets: creates tickets with retries on a callsignd that is killed repeatedly.");
    o.add("--boards", s.boards, "number of boards, each a series");
    o.add("--clients", s.clients, "clients per board");
    o.add("--tickets", s.tickets, "tickets per client");
    o.add("--kills", s.kills, "number of SIGKILLs, at random moments of the run");
    o.add("--seed", s.seed, "seed of keys and moments; 0: random");
    o.add("--program", s.program, "directory of callsignd and callsign");
    o.add("--dir", s.data_parent, "parent of the data directory");
    o.add("--deadline", s.deadline, "deadline of the clients; exceeding it is a violation");
    o.add("--keep", s.keep, "keep the data directory");
    o.parse(argc, argv);
    if (s.boards < 1 || s.clients < 1 || s.tickets < 1 || s.boards * s.clients > 1000)
        options::fail("the clients must be 1..1000 in all, with at least one ticket each");
    if (s.seed == 0) s.seed = std::random_device{}();
    return s;
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    using namespace callsign::bench;
    return run_program("tickets", [&] { return run(read_settings(argc, argv)); });
}
