// sync: many TaskChampion clients for a running callsignd: adds versions, reads them, and polls.
//
//     sync --url http://127.0.0.1:8080 --admin-token cs_... --connections 64
//     sync ... --what add,read,poll   one row each, with the same accounts, which it creates
//     sync ... --kind managed         a device per connection; bodies are encrypted with its key
//     sync ... --accounts 1           all connections add to one chain
//
// Rows:
//     add     versions, each with the parent that its connection knows. A 409 is retried at once;
//             the latency of a version counts from the first attempt. On a managed account,
//             followed by a pull to the end of the chain, since the server adds versions, too
//     post    the same without the pull: each version behind the previous one, regardless of
//             others between them (always so on opaque accounts)
//     edit    a new task first, then versions that change it: the server adds none
//     cycle   complete syncs of a stock client: a pull, a version, a pull; from the start after
//             a 409
//     read    pulls from the nil UUID to the end of a chain of --chain versions, repeatedly
//     poll    queries for the child of the newest version, which has none
//     alive   GET /livez, which does not query the store: the cost of HTTP alone
//
// Exits with 1 after any unexpected response.

#include "draw.hpp"
#include "options.hpp"
#include "report.hpp"
#include "target.hpp"

#include <callsign/domain/sync_session.hpp>
#include <callsign/seal/envelope.hpp>
#include <callsign/wire/segment.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>

namespace callsign::bench {
namespace {

constexpr std::size_t opaque_body_bytes = 300;
constexpr std::string_view nil_id = "00000000-0000-0000-0000-000000000000";
constexpr std::string_view segment_type = "application/vnd.taskchampion.history-segment";
constexpr std::array<std::string_view, 7> row_names{"add",  "post", "edit", "cycle",
                                                    "read", "poll", "alive"};

struct settings {
    std::string url = "http://127.0.0.1:8080";
    std::string admin_token;
    std::string what = "add";
    std::string kind = "opaque";
    unsigned connections = 1;
    unsigned accounts = 0;
    unsigned chain = 1000;
    double rate = 0;
    milliseconds duration{std::chrono::seconds{10}};
    milliseconds warmup{0};
    milliseconds timeout{std::chrono::seconds{30}};
    std::uint64_t seed = 0;
    bool json = false;

    target to;  // from the URL
    bool is_managed() const { return kind == "managed"; }
    bool is_shared() const { return accounts < connections; }
};

// ---- the clients ----

// A client ID. Managed accounts have one per device, opaque ones a single one.
struct client {
    std::string id;
    std::optional<seal::key> key;  // of a device of a managed account
};

// One per connection, like the newest versions they know.
using clients = std::vector<client>;
using version_ids = std::vector<std::string>;

std::string account_name(const settings& s, unsigned n) {
    char name[40];
    std::snprintf(name, sizeof name, "sync-%016llx-%u", static_cast<unsigned long long>(s.seed), n);
    return name;
}

void make_accounts(const settings& s) {
    std::vector<net::http_call> calls;
    for (unsigned i = 0; i < s.accounts; ++i) {
        std::string body = "{\"name\":\"" + account_name(s, i) + "\",\"prefix\":\"SYNC\"";
        if (!s.is_managed())
            body += ",\"mode\":\"opaque\",\"clientId\":\"" + to_string(draw_uuid(s.seed, i)) + "\"";
        calls.push_back(post_json(s.admin_token, "/v1/admin/accounts", body + "}"));
    }
    prepare(s.to, std::move(calls), {201});
}

struct device {
    std::string client_id;
    std::string secret;
};

// Sequentially, since the server derives a key for each.
device make_device(const settings& s, unsigned n) {
    const std::string path = "/v1/admin/accounts/" + account_name(s, n % s.accounts) + "/devices";
    const std::string body = "{\"name\":\"device-" + std::to_string(n) + "\"}";
    for (int tries = 0; tries < 600; ++tries) {
        const auto answer = prepare(s.to, {post_json(s.admin_token, path, body)}, {200, 201, 503});
        if (answer.status != 503)
            return {member(answer.body, "clientId"), member(answer.body, "encryptionSecret")};
        std::this_thread::sleep_for(milliseconds(100));
    }
    options::fail("the server is too busy to create a device");
}

// 600,000 iterations each: uses several threads.
void derive_keys(const std::vector<device>& devices, clients& out) {
    std::atomic<std::size_t> next = 0;
    const auto derive = [&] {
        for (std::size_t i = next++; i < devices.size(); i = next++) {
            const std::string& secret = devices[i].secret;
            const std::span bytes(reinterpret_cast<const std::uint8_t*>(secret.data()),
                                  secret.size());
            out[i].key = seal::derive_key(bytes, *parse_uuid(devices[i].client_id));
        }
    };
    std::thread other(derive);
    derive();
    other.join();
}

clients make_clients(const settings& s) {
    make_accounts(s);
    clients made(s.connections);
    std::vector<device> devices;
    for (unsigned i = 0; i < s.connections; ++i) {
        if (!s.is_managed()) {
            made[i].id = to_string(draw_uuid(s.seed, i % s.accounts));
            continue;
        }
        devices.push_back(make_device(s, i));
        made[i].id = devices.back().client_id;
        std::fprintf(stderr, "\r%u of %u devices%s", i + 1, s.connections,
                     i + 1 == s.connections ? "\n" : "");
    }
    derive_keys(devices, made);
    return made;
}

// ---- bodies ----

// Realistic bodies of versions: random bytes, or a new task with a few properties, or a new
// description of an existing task.
class bodies {
  public:
    explicit bodies(std::uint64_t seed) : seed_(seed), noise_(opaque_body_bytes, '\0') {
        for (std::size_t i = 0; i < noise_.size(); ++i)
            noise_[i] = static_cast<char>(mixed(seed ^ i));
    }

    // The task created by the last body.
    uuid last_made() const { return draw_uuid(seed_, drawn_); }

    // `edited`: the task to change; none: creates one. Valid until the next call.
    std::string_view next(const client& from, std::string_view parent,
                          const std::optional<uuid>& edited) {
        ++drawn_;
        if (from.key) {
            sealed_ = seal::seal_body(*from.key, *parse_uuid(parent), nonce(),
                                      edited ? edit(*edited) : creation(last_made()));
            return sealed_;
        }
        std::memcpy(noise_.data(), &drawn_, sizeof drawn_);
        return noise_;
    }

  private:
    // A nonce must not be reused: two bodies with one nonce would reveal each other.
    std::array<std::uint8_t, seal::nonce_bytes> nonce() const {
        std::array<std::uint8_t, seal::nonce_bytes> bytes{};
        const std::uint64_t high = mixed(seed_);
        std::memcpy(bytes.data(), &drawn_, sizeof drawn_);
        std::memcpy(bytes.data() + sizeof drawn_, &high, bytes.size() - sizeof drawn_);
        return bytes;
    }

    std::string creation(const uuid& id) const {
        const std::string now = seconds();
        const std::array operations{
            operation{operation_kind::create, id, {}, {}, {}},
            set(id, "description", description()),
            set(id, "entry", now),
            set(id, "modified", now),
            set(id, "status", "pending"),
        };
        return wire::encode_segment(operations);
    }
    std::string edit(const uuid& id) const {
        const std::array operations{set(id, "description", description()),
                                    set(id, "modified", seconds())};
        return wire::encode_segment(operations);
    }

    static operation set(const uuid& id, std::string property, std::string value) {
        return {operation_kind::update, id, std::move(property), std::move(value),
                std::chrono::system_clock::now()};
    }
    std::string description() const {
        return "Mend the tap in the corridor, visit " + std::to_string(drawn_);
    }
    static std::string seconds() {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count());
    }

    const std::uint64_t seed_;
    std::uint64_t drawn_ = 0;
    std::string noise_;
    std::string sealed_;
};

// ---- workloads ----

// Requests of all workloads, as TaskChampion's clients send them.
class sync_workload : public workload {
  public:
    sync_workload(const settings& s, const clients& who)
        : who_(who), authority_(s.to.authority), bodies_(mixed(s.seed ^ draw_seed())) {}

    job next(std::uint64_t n) override { return {.item = n}; }

  protected:
    std::string_view ask_child(unsigned connection, std::string_view parent) {
        begin("GET /v1/client/get-child-version/", connection, parent);
        return text_.append("\r\n");
    }

    std::string_view add_version(unsigned connection, std::string_view parent,
                                 const std::optional<uuid>& edited = {}) {
        const std::string_view body = bodies_.next(who_[connection], parent, edited);
        begin("POST /v1/client/add-version/", connection, parent);
        text_.append("content-type: ").append(segment_type);
        text_.append("\r\ncontent-length: ").append(std::to_string(body.size()));
        return text_.append("\r\n\r\n").append(body);
    }
    uuid last_made() const { return bodies_.last_made(); }

  private:
    void begin(std::string_view verb_and_path, unsigned connection, std::string_view parent) {
        text_.assign(verb_and_path).append(parent);
        text_.append(" HTTP/1.1\r\nx-client-id: ").append(who_[connection].id);
        text_.append("\r\naccept: */*\r\nuser-agent: taskchampion/3.1.0\r\nhost: ");
        text_.append(authority_).append("\r\n");
    }

    const clients& who_;
    const std::string authority_;
    bodies bodies_;
    std::string text_;
};

class adding : public sync_workload {
    enum class step : std::uint8_t { make, pull, push, pull_again };

  public:
    enum class style : std::uint8_t { bare, post, edit, cycle };

    adding(const settings& s, const clients& who, version_ids& newest, style how)
        : sync_workload(s, who),
          first_(how == style::cycle ? step::pull : step::push),
          // On a managed account the server adds a version after a new task; a stock client pulls
          // it.
          pulls_after_(how == style::cycle || (how == style::bare && s.is_managed())),
          // On managed accounts the server rebases stale versions.
          may_conflict_(s.is_shared() && !s.is_managed()),
          newest_(newest),
          next_(newest.size(), how == style::edit && s.is_managed() ? step::make : first_),
          edited_(newest.size()) {}

    std::string_view request(const job& j) override {
        const unsigned n = j.connection;
        if (next_[n] == step::push) return add_version(n, newest_[n], edited_[n]);
        if (next_[n] != step::make) return ask_child(n, newest_[n]);
        const auto text = add_version(n, newest_[n]);
        edited_[n] = last_made();
        return text;
    }

    const char* fault_in(const job& j, const response& answer) override {
        is_done_ = false;
        const step now = next_[j.connection];
        return now == step::make || now == step::push ? pushed(j.connection, answer)
                                                      : pulled(j.connection, answer);
    }

    bool is_done(const job&) override { return is_done_; }

  private:
    const char* pushed(unsigned n, const response& answer) {
        if (answer.status == 409 && may_conflict_) {
            // A stock client pulls after a conflict; a bare one uses the response.
            if (first_ == step::push) newest_[n] = answer.parent;
            next_[n] = first_;
            return nullptr;
        }
        if (answer.status != 200) return "a version was rejected";
        if (answer.version.empty()) return "a version without an id";
        newest_[n] = answer.version;
        const bool pulls = pulls_after_ || next_[n] == step::make;
        if (pulls) next_[n] = step::pull_again;
        is_done_ = !pulls;
        return nullptr;
    }

    const char* pulled(unsigned n, const response& answer) {
        if (answer.status == 200) {
            newest_[n] = answer.version;
            return answer.version.empty() ? "a version without an id" : nullptr;
        }
        if (answer.status != 404) return "neither a child nor none";
        is_done_ = next_[n] == step::pull_again;
        next_[n] = is_done_ ? first_ : step::push;
        return nullptr;
    }

    const step first_;
    const bool pulls_after_;
    const bool may_conflict_;
    version_ids& newest_;
    std::vector<step> next_;
    std::vector<std::optional<uuid>> edited_;  // none: each version creates a task
    bool is_done_ = false;                     // for the last response
};

// Reads from the nil UUID to the newest version, repeatedly; the 404 at the end belongs to polls.
class reading : public sync_workload {
  public:
    reading(const settings& s, const clients& who, const version_ids& newest)
        : sync_workload(s, who),
          is_managed_(s.is_managed()),
          chain_(s.chain),
          newest_(newest),
          places_(newest.size()) {}

    std::string_view request(const job& j) override {
        return ask_child(j.connection, places_[j.connection].at);
    }

    const char* fault_in(const job& j, const response& answer) override {
        place& p = places_[j.connection];
        // A client that pulls its own versions must push first, until the server assumes
        // several replicas.
        if (answer.status == 404 && is_managed_ && p.held++ < sync_session::shared_from) {
            p.at = nil_id;
            return nullptr;
        }
        if (answer.status != 200) return "a child was not found";
        if (answer.body.empty() || answer.parent != p.at) return "a wrong child";
        p.at = answer.version;
        if (++p.walked == chain_ || p.at == newest_[j.connection]) {
            p.at = nil_id;
            p.walked = 0;
        }
        return nullptr;
    }

  private:
    struct place {
        std::string at{nil_id};
        unsigned walked = 0;
        int held = 0;
    };

    const bool is_managed_;
    const unsigned chain_;
    const version_ids& newest_;
    std::vector<place> places_;
};

class polling : public sync_workload {
  public:
    polling(const settings& s, const clients& who, const version_ids& newest)
        : sync_workload(s, who), newest_(newest) {}

    std::string_view request(const job& j) override {
        return ask_child(j.connection, newest_[j.connection]);
    }
    const char* fault_in(const job&, const response& answer) override {
        return answer.status == 404 ? nullptr : "no 404 at the end";
    }

  private:
    const version_ids& newest_;
};

class staying_alive : public workload {
  public:
    explicit staying_alive(const settings& s)
        : text_("GET /livez HTTP/1.1\r\nhost: " + s.to.authority + "\r\n\r\n") {}

    job next(std::uint64_t n) override { return {.item = n}; }
    std::string_view request(const job&) override { return text_; }
    const char* fault_in(const job&, const response& answer) override {
        return answer.status == 200 ? nullptr : "not alive";
    }

  private:
    const std::string text_;
};

// Pulls to the ends of the chains, from each connection's last version, and decrypts the bodies.
class catching_up : public sync_workload {
  public:
    catching_up(const settings& s, const clients& who, version_ids& newest)
        : sync_workload(s, who), who_(who), newest_(newest) {}

    std::string_view request(const job& j) override {
        return ask_child(j.connection, newest_[j.connection]);
    }
    const char* fault_in(const job& j, const response& answer) override {
        is_done_ = answer.status == 404;
        if (is_done_) return nullptr;
        if (answer.status != 200) return "neither a child nor none";
        const auto& key = who_[j.connection].key;
        if (key && !opens(*key, answer)) return "a body that cannot be decrypted";
        newest_[j.connection] = answer.version;
        return nullptr;
    }
    bool is_done(const job&) override { return is_done_; }

  private:
    static bool opens(const seal::key& key, const response& answer) {
        const auto opened = seal::open_body(key, *parse_uuid(answer.parent), answer.body);
        const auto* text = std::get_if<std::string>(&opened);
        return text && !std::holds_alternative<wire::malformed>(wire::decode_segment(*text));
    }

    const clients& who_;
    version_ids& newest_;
    bool is_done_ = false;
};

// ---- the rows ----

// The rows share accounts and chains: later ones read what earlier ones added.
class rows {
  public:
    explicit rows(const settings& s)
        : s_(s), who_(make_clients(s)), newest_(s.connections, std::string(nil_id)) {}

    measured measure_row(std::string_view what) {
        if (what == "add") return add(adding::style::bare);
        if (what == "post") return add(adding::style::post);
        if (what == "edit") return add(adding::style::edit);
        if (what == "cycle") return add(adding::style::cycle);
        if (what == "alive") {
            staying_alive work(s_);
            return run(work);
        }
        if (!has_chains_) make_chains();
        catch_up();
        if (what == "read") {
            reading work(s_, who_, newest_);
            return run(work);
        }
        polling work(s_, who_, newest_);
        return run(work);
    }

  private:
    measured add(adding::style how) {
        adding work(s_, who_, newest_, how);
        has_chains_ = true;
        return run(work);
    }

    measured run(workload& work) const {
        plan p;
        p.connections = s_.connections;
        p.rate = s_.rate;
        p.warmup = s_.warmup;
        p.duration = s_.duration;
        p.timeout = s_.timeout;
        runner r(s_.to.endpoint, work, p);
        return measure(r);
    }

    // One connection per account adds to it.
    void make_chains() {
        adding work(s_, who_, newest_, adding::style::bare);
        run_beforehand(work, s_.accounts, std::uint64_t{s_.accounts} * s_.chain);
        has_chains_ = true;
    }

    void catch_up() {
        catching_up work(s_, who_, newest_);
        run_beforehand(work, s_.connections, s_.connections);
    }

    void run_beforehand(workload& work, unsigned connections, std::uint64_t requests) const {
        plan p;
        p.connections = connections;
        p.requests = requests;
        p.duration = std::chrono::minutes(5);
        p.timeout = s_.timeout;
        const tally done = runner(s_.to.endpoint, work, p).run();
        if (!done.ok()) options::fail("preparation failed: " + done.first_fault);
    }

    const settings& s_;
    const clients who_;
    version_ids newest_;
    bool has_chains_ = false;
};

// ---- output ----

void print_json(const settings& s, std::string_view what, const measured& m) {
    const double seconds = std::chrono::duration<double>(m.counts.elapsed).count();
    std::printf("{\"what\":\"%s\",\"kind\":\"%s\",\"connections\":%u,\"accounts\":%u,",
                std::string(what).c_str(), s.kind.c_str(), s.connections, s.accounts);
    std::printf("\"rate\":%.6g,\"conflictsPerSecond\":%.1f,", s.rate,
                seconds > 0 ? static_cast<double>(m.counts.by_status[409]) / seconds : 0);
    print_json_counts(m);
}

void print_text(const settings& s, std::string_view what, const measured& m) {
    const double seconds = std::chrono::duration<double>(m.counts.elapsed).count();
    std::printf("%s, %s: %u connection%s, %u account%s", std::string(what).c_str(), s.kind.c_str(),
                s.connections, s.connections == 1 ? "" : "s", s.accounts,
                s.accounts == 1 ? "" : "s");
    if (s.rate > 0) std::printf(", open loop at %.6g/s", s.rate);
    std::printf(", %.1f s\n", seconds);
    print_text_counts(m, what);
    if (m.counts.by_status[409] != 0)
        std::printf("  conflicts: %.0f/s\n",
                    static_cast<double>(m.counts.by_status[409]) / seconds);
}

// ---- settings ----

std::vector<std::string> words(std::string_view list) {
    std::vector<std::string> found;
    while (!list.empty()) {
        const auto comma = list.find(',');
        found.emplace_back(list.substr(0, comma));
        list.remove_prefix(comma == list.npos ? list.size() : comma + 1);
    }
    return found;
}

std::string all_row_names() {
    std::string all;
    for (const std::string_view each : row_names) all.append(all.empty() ? "" : ", ").append(each);
    return all;
}

settings read_settings(int argc, char** argv) {
    settings s;
    options o("sync: measures TaskChampion clients on a running callsignd.");
    o.add("--url", s.url, "server's URL, on a loopback address");
    o.add("--admin-token", s.admin_token, "operator token, to create accounts for this run");
    o.add("--what", s.what, all_row_names() + ", or several, separated by commas, in this order");
    o.add("--kind", s.kind, "kind of accounts: opaque or managed");
    o.add("--connections", s.connections,
          "number of connections, 1..1000, each with one request at a time");
    o.add("--accounts", s.accounts,
          "number of accounts, shared by the connections; 0: one per connection");
    o.add("--chain", s.chain, "number of versions for read");
    o.add("--rate", s.rate, "requests per second, open loop; 0: closed loop");
    o.add("--duration", s.duration, "duration of each row after the warm-up");
    o.add("--warmup", s.warmup, "initial time without measurement");
    o.add("--timeout", s.timeout, "maximum response time");
    o.add("--seed", s.seed, "seed of names and IDs; 0: random");
    o.add("--json", s.json, "print one JSON object per row");
    o.parse(argc, argv);

    for (const std::string& what : words(s.what))
        if (std::ranges::find(row_names, what) == row_names.end())
            options::fail("--what must be of " + all_row_names());
    if (s.kind != "opaque" && s.kind != "managed")
        options::fail("--kind must be opaque or managed");
    if (s.connections < 1 || s.connections > 1000) options::fail("--connections must be 1..1000");
    if (s.accounts == 0) s.accounts = s.connections;
    if (s.accounts > s.connections) options::fail("--accounts must not exceed --connections");
    if (s.chain < 1) options::fail("--chain must be at least 1");
    if (s.admin_token.empty()) options::fail("--admin-token is required");
    // Every run ends.
    constexpr milliseconds duration_max = std::chrono::minutes(30);
    s.duration = std::min(s.duration, duration_max);
    if (s.seed == 0) s.seed = draw_seed();
    s.to = parse_target(s.url);
    return s;
}

int run(const settings& s) {
    rows all(s);
    bool ok = true;
    for (const std::string& what : words(s.what)) {
        const measured m = all.measure_row(what);
        if (s.json) {
            print_json(s, what, m);
        } else {
            print_text(s, what, m);
        }
        std::fflush(stdout);
        print_faults(m.counts);
        ok = ok && m.counts.ok() && m.counts.latency.total() > 0;
    }
    return ok ? 0 : 1;
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    using namespace callsign::bench;
    return run_program("sync", [&] { return run(read_settings(argc, argv)); });
}
