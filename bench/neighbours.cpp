// neighbours: the effect of one account's load on a quiet account. For each kind of load it starts
// a callsignd on an empty directory, measures the quiet account's creations and reads without and
// with the load, and prints both with the server's peak memory. The loads are realistic for one
// account or an operator; every response is 2xx, or 503 with Retry-After.
//
//     neighbours                       all loads, 10 s each
//     neighbours --loads snapshots     some loads, separated by commas
//
// Exits with 1 if a request of the quiet account was rejected, or any request got no response.

#include "draw.hpp"
#include "histogram.hpp"
#include "options.hpp"
#include "support/http_client.hpp"
#include "support/server.hpp"
#include "support/temp_dir.hpp"

#include <callsign/seal/envelope.hpp>
#include <callsign/wire/segment.hpp>

#include <array>
#include <atomic>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace callsign::bench {
namespace {

namespace json = boost::json;
using steady_clock = std::chrono::steady_clock;
using testing::http_answer;
using testing::http_client;

constexpr const char* segment_type = "application/vnd.taskchampion.history-segment";
constexpr const char* nil_id = "00000000-0000-0000-0000-000000000000";

struct settings {
    std::string program;
    std::string data_parent = std::filesystem::temp_directory_path().string();
    std::string loads = "creations,segments,late,snapshots,imports,devices,migration";
    milliseconds duration{std::chrono::seconds{10}};
};

// ---- server and preparation ----

json::value expect(const std::optional<http_answer>& answer, unsigned status) {
    if (!answer || answer->status != status) {
        options::fail("preparation failed: " + (answer ? answer->body : "no response"));
    }
    return json::parse(answer->body);
}

struct world {
    testing::server server;
    std::string admin = server.admin_token();

    http_client as_operator() const { return http_client(server.port(), admin); }

    std::string make_account(const std::string& name) const {
        auto c = as_operator();
        const json::object wanted{{"name", name}, {"prefix", "TASK"}};
        const auto made = expect(c.post_json("/v1/admin/accounts", json::serialize(wanted)), 201);
        return std::string(made.at("token").as_string());
    }

    struct device {
        std::string client_id;
        seal::key key;
    };
    device make_device(const std::string& account, const std::string& name) const {
        auto c = as_operator();
        const auto made = expect(c.post_json("/v1/admin/accounts/" + account + "/devices",
                                             "{\"name\":\"" + name + "\"}"),
                                 201);
        const std::string secret(made.at("encryptionSecret").as_string());
        std::string id(made.at("clientId").as_string());
        const std::span bytes(reinterpret_cast<const std::uint8_t*>(secret.data()), secret.size());
        auto key = seal::derive_key(bytes, *parse_uuid(id));
        return {std::move(id), std::move(key)};
    }

    std::string proc(const char* file) {
        return "/proc/" + std::to_string(server.child().id()) + "/" + file;
    }
    // Peak resident memory since forget_peak(), in MiB.
    unsigned long peak_memory() {
        constexpr std::string_view field = "VmHWM:";
        std::ifstream status(proc("status"));
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with(field)) return std::stoul(line.substr(field.size())) / 1024;
        }
        return 0;
    }
    void forget_peak() { std::ofstream(proc("clear_refs")) << "5"; }
};

// A batch of tasks as in a migration.
std::string import_batch(std::uint64_t seed, int tasks) {
    json::array all;
    for (int n = 0; n < tasks; ++n) {
        all.push_back(json::object{
            {"uuid", to_string(draw_uuid(seed, static_cast<std::uint64_t>(n)))},
            {"attributes", json::object{{"description", "Mend the tap in the corridor"},
                                        {"status", "pending"},
                                        {"entry", "1700000000"},
                                        {"modified", "1700000000"},
                                        {"project", "house.corridor"}}}});
    }
    return json::serialize(json::object{{"tasks", std::move(all)}});
}

void import_tasks(const world& w, const std::string& account, int batches) {
    auto c = w.as_operator();
    for (int n = 0; n < batches; ++n) {
        expect(c.post_json("/v1/admin/accounts/" + account + "/import",
                           import_batch(static_cast<std::uint64_t>(n + 1), 500)),
               200);
    }
}

std::string segment_of(const world::device& from, const std::string& parent, std::uint64_t seed,
                       int tasks) {
    std::vector<operation> all;
    const precise_time now = std::chrono::system_clock::now();
    for (int n = 0; n < tasks; ++n) {
        const uuid id = draw_uuid(seed, static_cast<std::uint64_t>(n));
        all.push_back({operation_kind::create, id, {}, {}, {}});
        for (const auto& [name, value] : {std::pair("description", "Mend the tap in the corridor"),
                                          std::pair("status", "pending")}) {
            all.push_back({operation_kind::update, id, name, value, now});
        }
    }
    std::array<std::uint8_t, seal::nonce_bytes> nonce{};
    std::memcpy(nonce.data(), &seed, sizeof seed);
    return seal::seal_body(from.key, *parse_uuid(parent), nonce, wire::encode_segment(all));
}

// ---- load ----

// One request of a load connection, repeated until the end.
using act =
    std::function<std::optional<http_answer>(http_client&, unsigned connection, std::uint64_t n)>;

struct load {
    unsigned connections = 1;
    std::string token;
    act ask;
};

struct load_counts {
    std::mutex mutex;
    std::map<unsigned, std::uint64_t> by_status;
    std::uint64_t unanswered = 0;
    std::uint64_t silent_rejections = 0;  // 503 without Retry-After

    void count(const std::optional<http_answer>& answer) {
        const std::lock_guard lock(mutex);
        if (!answer) {
            ++unanswered;
            return;
        }
        ++by_status[answer->status];
        if (answer->status == 503 && answer->header("Retry-After").empty()) ++silent_rejections;
    }
};

class running_load {
  public:
    running_load(const world& w, const load& l, load_counts& counts) {
        for (unsigned i = 0; i < l.connections; ++i) {
            threads_.emplace_back([this, &w, &l, &counts, i] {
                http_client c(w.server.port(), l.token, std::chrono::seconds{60});
                for (std::uint64_t n = 0; !stop_; ++n) {
                    const auto answer = l.ask(c, i, n);
                    counts.count(answer);
                    // Waits after a 503 as a client would, but for a tenth of the time.
                    if (answer && answer->status == 503 && !stop_)
                        std::this_thread::sleep_for(milliseconds{100});
                }
            });
        }
    }
    ~running_load() {
        stop_ = true;
        for (std::thread& t : threads_) t.join();
    }

  private:
    std::atomic<bool> stop_ = false;
    std::vector<std::thread> threads_;
};

load large_creations(const world& w) {
    json::object attributes;
    for (int n = 0; n < 16; ++n) attributes["note" + std::to_string(n)] = std::string(65'000, 'x');
    const std::string body =
        json::serialize(json::object{{"description", "large"}, {"attributes", attributes}});
    return {80, w.make_account("loud"), [body](http_client& c, unsigned i, std::uint64_t n) {
                return c.post_json("/v1/tasks", body, std::to_string(i) + "-" + std::to_string(n));
            }};
}

load segments(const world& w, unsigned connections, int tasks, bool late) {
    w.make_account("loud");
    const auto device = std::make_shared<const world::device>(w.make_device("loud", "laptop"));
    const auto parents = std::make_shared<std::vector<std::string>>(connections, nil_id);
    return {connections, "",
            [device, parents, tasks, late](http_client& c, unsigned i, std::uint64_t n) {
                const std::string& parent = (*parents)[i];
                const std::uint64_t seed = mixed(i * 1'000'003 + n);
                auto answer =
                    c.request("POST", "/v1/client/add-version/" + parent,
                              {{"Content-Type", segment_type}, {"X-Client-Id", device->client_id}},
                              segment_of(*device, parent, seed, tasks));
                const bool goes_on = answer && answer->status == 200 && (!late || n == 0);
                if (goes_on) (*parents)[i] = answer->header("X-Version-Id");
                // The segment exceeds the initial limit, so the client queries the chain first.
                if (answer && answer->status == 503)
                    c.request("GET", "/v1/client/get-child-version/" + parent,
                              {{"X-Client-Id", device->client_id}});
                return answer;
            }};
}

load snapshots(const world& w) {
    w.make_account("loud");
    import_tasks(w, "loud", 100);
    const auto id = w.make_device("loud", "laptop").client_id;
    return {64, "", [id](http_client& c, unsigned, std::uint64_t) {
                return c.request("GET", "/v1/client/snapshot", {{"X-Client-Id", id}});
            }};
}

// Imports by an operator, in batches, over this number of connections. One connection corresponds
// to the migration of a large account: 100,000 tasks are 200 batches.
load imports(const world& w, unsigned connections) {
    w.make_account("loud");
    return {connections, w.admin, [](http_client& c, unsigned i, std::uint64_t n) {
                return c.post_json("/v1/admin/accounts/loud/import",
                                   import_batch(mixed(i * 1'000'003 + n), 500));
            }};
}

// Adds devices, while others pull and push small changes.
load many_devices(const world& w) {
    w.make_account("loud");
    const auto device = std::make_shared<const world::device>(w.make_device("loud", "laptop"));
    return {64, w.admin, [device](http_client& c, unsigned i, std::uint64_t n) {
                if (i < 4) {
                    return c.post_json(
                        "/v1/admin/accounts/loud/devices",
                        "{\"name\":\"d" + std::to_string(i) + "-" + std::to_string(n) + "\"}");
                }
                return c.request("GET", std::string("/v1/client/get-child-version/") + nil_id,
                                 {{"X-Client-Id", device->client_id}});
            }};
}

load make_load(const world& w, std::string_view name) {
    if (name == "creations") return large_creations(w);
    if (name == "segments") return segments(w, 4, 4000, false);
    if (name == "late") return segments(w, 16, 1, true);
    if (name == "snapshots") return snapshots(w);
    if (name == "imports") return imports(w, 8);
    if (name == "devices") return many_devices(w);
    if (name == "migration") return imports(w, 1);
    options::fail("unknown load: " + std::string(name));
}

// ---- quiet account ----

struct noticed {
    histogram creates;
    histogram reads;
    std::uint64_t rejected = 0;
};

// One request at a time, a hundred per second: the devices of one user.
noticed live_quietly(const world& w, const std::string& token, const std::string& run,
                     milliseconds duration) {
    noticed n;
    http_client c(w.server.port(), token, std::chrono::seconds{60});
    const auto timed = [&](histogram& into, unsigned status, const auto& ask) {
        const auto begun = steady_clock::now();
        const std::optional<http_answer> answer = ask();
        into.record(steady_clock::now() - begun);
        if (!answer || answer->status != status) ++n.rejected;
    };
    const auto end = steady_clock::now() + duration;
    for (int i = 0; steady_clock::now() < end; ++i) {
        timed(n.creates, 201, [&] {
            return c.post_json("/v1/tasks", R"({"description":"Mend the tap"})",
                               run + std::to_string(i));
        });
        timed(n.reads, 200, [&] { return c.get("/v1/tasks/TASK-1"); });
        std::this_thread::sleep_for(milliseconds{10});
    }
    return n;
}

// ---- table ----

double ms(std::chrono::nanoseconds span) {
    return std::chrono::duration<double, std::milli>(span).count();
}

void print_row(const std::string& name, const char* what, const histogram& alone,
               const histogram& beside, unsigned long peak) {
    const double before = ms(alone.quantile(0.99));
    const double after = ms(beside.quantile(0.99));
    std::printf("%-10s %-7s %9.2f %9.2f %10.2f %10.2f %7.1f %6s %9lu\n", name.c_str(), what,
                ms(alone.quantile(0.5)), before, ms(beside.quantile(0.5)), after, after / before,
                after <= std::max(50.0, 3 * before) ? "yes" : "NO", peak);
}

// Returns whether all responses were as expected.
bool measure(const settings& s, const std::string& name) {
    const testing::temp_dir dir(s.data_parent);
    world w{testing::server(
        {s.program, dir.path() / "data", {}, {{"CALLSIGN_MASTER_KEY", std::string(64, 'a')}}})};
    const std::string token = w.make_account("quiet");
    const load l = make_load(w, name);
    const noticed alone = live_quietly(w, token, "alone", s.duration);
    load_counts counts;
    noticed beside;
    w.forget_peak();
    {
        const running_load running(w, l, counts);
        beside = live_quietly(w, token, "beside", s.duration);
    }
    const unsigned long peak = w.peak_memory();
    print_row(name, "create", alone.creates, beside.creates, peak);
    print_row(name, "read", alone.reads, beside.reads, peak);
    std::printf("%-10s responses to the load:", "");
    for (const auto& [status, number] : counts.by_status)
        std::printf(" %u: %llu", status, static_cast<unsigned long long>(number));
    std::printf("\n");
    std::fflush(stdout);
    const std::uint64_t rejected = alone.rejected + beside.rejected;
    if (rejected != 0)
        std::printf("%-10s QUIET ACCOUNT: %llu REQUESTS REJECTED\n", "",
                    static_cast<unsigned long long>(rejected));
    if (counts.unanswered + counts.silent_rejections != 0)
        std::printf("%-10s %llu WITHOUT RESPONSE, %llu 503 WITHOUT Retry-After\n", "",
                    static_cast<unsigned long long>(counts.unanswered),
                    static_cast<unsigned long long>(counts.silent_rejections));
    return rejected + counts.unanswered + counts.silent_rejections == 0;
}

int run(const settings& s) {
    std::printf("%-10s %-7s %9s %9s %10s %10s %7s %6s %9s\n", "load", "quiet", "p50/ms", "p99/ms",
                "p50 beside", "p99 beside", "ratio", "aim", "peak/MiB");
    bool all_well = true;
    for (std::string_view rest = s.loads; !rest.empty();) {
        const auto comma = std::min(rest.find(','), rest.size());
        all_well = measure(s, std::string(rest.substr(0, comma))) && all_well;
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return all_well ? 0 : 1;
}

settings read_settings(int argc, char** argv) {
    settings s;
    s.program = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path().string();
    options o("neighbours: measures the effect of one account's load on a quiet account.");
    o.add("--program", s.program, "directory of callsignd");
    o.add("--dir", s.data_parent, "parent of the data directories, on the disk to measure");
    o.add("--loads", s.loads, "loads, separated by commas");
    o.add("--duration", s.duration, "duration of each measurement, without and with the load");
    o.parse(argc, argv);
    return s;
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    using namespace callsign::bench;
    return run_program("neighbours", [&] { return run(read_settings(argc, argv)); });
}
