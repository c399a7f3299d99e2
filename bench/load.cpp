// load: sends creations to a running callsignd, and measures rate and latency.
//
//     load --url http://127.0.0.1:8080 --token cs_... --connections 64 --duration 10s
//     load ... --rate 1000          open loop: latency counts from the due time of a request
//     load ... --series 1000        distributed over S0001..S1000, created beforehand
//     load ... --retry-share 5      5 % are retries, whose responses must equal the first ones
//     load ... --what batch         500 creations per request (--batch N), counted individually
//     load ... --what get           single tasks by key, of --tasks created beforehand
//     load ... --what edit          edits of such tasks
//     load ... --what list          pages of --batch such tasks
//
// The smallest run: --connections 1 --requests 1. Exits with 1 after any unexpected response.

#include "callsign/v1/callsign.pb.h"
#include "draw.hpp"
#include "options.hpp"
#include "report.hpp"
#include "target.hpp"

#include <callsign/domain/account.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace callsign::bench {
namespace {

struct settings {
    std::string url = "http://127.0.0.1:8080";
    std::string token;
    std::string admin_token;
    unsigned connections = 16;
    unsigned series = 1;
    unsigned accounts = 1;
    double rate = 0;
    milliseconds duration{0};
    milliseconds warmup{0};
    milliseconds timeout{std::chrono::seconds{30}};
    std::uint64_t requests = 0;
    std::string format = "json";
    std::string what = "create";
    unsigned batch = 500;
    unsigned tasks = 10'000;
    double retry_share = 0;
    std::uint64_t seed = 0;
    bool json = false;

    target to;                          // from the URL
    std::vector<std::string> tokens{};  // one per account, with --accounts

    bool needs_tasks() const { return what == "get" || what == "edit" || what == "list"; }
};

// ---- requests ----

constexpr std::size_t key_chars = 36;
constexpr std::size_t item_chars = 12;

// An idempotency key as clients send it: a random UUIDv4.
void write_key(std::uint64_t seed, std::uint64_t item, char* out) {
    const uuid id = draw_uuid(seed, item);
    constexpr char hex[] = "0123456789abcdef";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *out++ = '-';
        *out++ = hex[id.data[i] >> 4];
        *out++ = hex[id.data[i] & 0x0F];
    }
}

void write_item(std::uint64_t item, char* out) {
    for (std::size_t i = item_chars; i-- > 0; item /= 10)
        out[i] = static_cast<char>('0' + item % 10);
}

// A request for one series, complete except for the key and the item number, which are written in
// place.
struct request_form {
    std::string bytes;
    std::size_t key_at = 0;
    std::size_t item_at = 0;
};

request_form make_form(const settings& s, const std::string& token, const std::string& prefix) {
    const std::string key_place(key_chars, '#');
    const std::string item_place(item_chars, '#');
    const std::string description = "Mend the tap in the corridor, visit " + item_place;

    std::string body;
    std::string_view media_type = "application/json";
    if (s.format == "protobuf") {
        v1::CreateTask message;
        message.set_description(description);
        message.set_prefix(prefix);
        body = message.SerializeAsString();
        media_type = "application/x-protobuf";
    } else {
        body = "{\"description\":\"" + description + "\"";
        if (!prefix.empty()) body += ",\"prefix\":\"" + prefix + "\"";
        body += "}";
    }
    request_form form;
    form.bytes = post_head(s.to, token, "/v1/tasks", "Idempotency-Key: \"" + key_place + "\"\r\n",
                           media_type, body.size());
    form.key_at = form.bytes.find(key_place);
    form.item_at = form.bytes.size() + body.find(item_place);
    form.bytes += body;
    return form;
}

// ---- workloads ----

class creations : public workload {
  public:
    explicit creations(const settings& s)
        : seed_(s.seed), replay_below_(share_of_64_bits(s.retry_share)) {
        for (const std::string& token : s.tokens) forms_.push_back(make_form(s, token, ""));
        if (s.tokens.empty()) forms_.push_back(make_form(s, s.token, ""));
        for (unsigned i = 1; i < s.series; ++i)
            forms_.push_back(make_form(s, s.token, series_name(i)));
    }

    job next(std::uint64_t n) override {
        const std::uint64_t dice = mixed(~seed_ ^ n);
        if (dice < replay_below_ && !answered_.empty())
            return {.item = answered_[mixed(dice) % answered_.size()].item, .replay = true};
        return {.item = n};
    }

    std::string_view request(const job& j) override {
        request_form& form = forms_[j.item % forms_.size()];
        write_key(seed_, j.item, form.bytes.data() + form.key_at);
        write_item(j.item, form.bytes.data() + form.item_at);
        return form.bytes;
    }

    const char* fault_in(const job& j, const response& answer) override {
        if (answer.status != 201) return "unexpected status";
        if (answer.body.empty()) return "a receipt without content";
        if (!j.replay) {
            if (answer.replayed) return "a new creation got the response of a replay";
            remember(j.item, answer.body);
            return nullptr;
        }
        if (!answer.replayed) return "a replay got the response of a new creation";
        return is_as_before(j.item, answer.body) ? nullptr : "another receipt than before";
    }

  private:
    struct answered {
        std::uint64_t item;
        std::size_t receipt_hash;
    };

    // Converts a percentage to a limit for random 64-bit numbers.
    static std::uint64_t share_of_64_bits(double percent) {
        return percent >= 100 ? ~0ULL : static_cast<std::uint64_t>(std::ldexp(percent / 100, 64));
    }

    // Remembers the latest receipts as hashes; older items are no longer replayed.
    void remember(std::uint64_t item, std::string_view receipt) {
        if (replay_below_ == 0) return;
        const answered entry{item, std::hash<std::string_view>{}(receipt)};
        if (answered_.size() < remembered_max) {
            answered_.push_back(entry);
        } else {
            hash_of_.erase(answered_[oldest_].item);
            answered_[oldest_] = entry;
            oldest_ = (oldest_ + 1) % remembered_max;
        }
        hash_of_[item] = entry.receipt_hash;
    }

    bool is_as_before(std::uint64_t item, std::string_view receipt) const {
        const auto known = hash_of_.find(item);
        // Overwritten while the replay was in flight: nothing to compare with.
        return known == hash_of_.end() || known->second == std::hash<std::string_view>{}(receipt);
    }

    static constexpr std::size_t remembered_max = 65'536;

    const std::uint64_t seed_;
    const std::uint64_t replay_below_;
    std::vector<request_form> forms_;
    std::vector<answered> answered_;
    std::size_t oldest_ = 0;
    std::unordered_map<std::uint64_t, std::size_t> hash_of_;
};

// Many creations per request, each with its own key.
class batches : public workload {
  public:
    explicit batches(const settings& s) : seed_(s.seed), items_(s.batch) {
        const std::string key_place(key_chars, '#');
        const std::string item_place(item_chars, '#');
        std::string body = "{\"items\":[";
        std::vector<std::pair<std::size_t, std::size_t>> places;
        for (unsigned n = 0; n < items_; ++n) {
            if (n > 0) body += ",";
            body += "{\"idempotencyKey\":\"";
            const std::size_t key_at = body.size();
            body +=
                key_place + "\",\"task\":{\"description\":\"Mend the tap in the corridor, visit ";
            places.emplace_back(key_at, body.size());
            body += item_place + "\"}}";
        }
        body += "]}";
        bytes_ =
            post_head(s.to, s.token, "/v1/tasks:batchCreate", "", "application/json", body.size());
        for (auto [key_at, item_at] : places) {
            places_.emplace_back(bytes_.size() + key_at, bytes_.size() + item_at);
        }
        bytes_ += body;
    }

    job next(std::uint64_t n) override { return {.item = n}; }
    std::string_view request(const job& j) override {
        for (std::uint64_t n = 0; n < items_; ++n) {
            const std::uint64_t item = j.item * items_ + n;
            write_key(seed_, item, bytes_.data() + places_[n].first);
            write_item(item, bytes_.data() + places_[n].second);
        }
        return bytes_;
    }
    const char* fault_in(const job&, const response& answer) override {
        if (answer.status != 200) return "unexpected status";
        // A rejected item has a problem, whose size differs from a receipt's.
        if (answer.body.find("\"problem\"") != std::string_view::npos)
            return "an item was rejected";
        return nullptr;
    }

  private:
    const std::uint64_t seed_;
    const std::uint64_t items_;
    std::string bytes_;
    std::vector<std::pair<std::size_t, std::size_t>> places_;  // of each item's key and number
};

// Existing tasks, in random order.
class among_tasks : public workload {
  public:
    explicit among_tasks(const settings& s) : s_(s) {}

    job next(std::uint64_t n) override { return {.item = n}; }

  protected:
    std::string key_of(const job& j) const {
        return "LOAD-" + std::to_string(1 + mixed(s_.seed ^ j.item) % s_.tasks);
    }
    std::string_view ask(const std::string& what, const std::string& body = {}) {
        bytes_ = what + " HTTP/1.1\r\nHost: " + s_.to.authority + "\r\nAuthorization: Bearer " +
                 s_.token + "\r\n";
        if (!body.empty()) {
            bytes_ += "Content-Type: application/merge-patch+json\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\n";
        }
        bytes_ += "\r\n" + body;
        return bytes_;
    }

    const settings& s_;

  private:
    std::string bytes_;
};

class readings : public among_tasks {
  public:
    using among_tasks::among_tasks;

    std::string_view request(const job& j) override { return ask("GET /v1/tasks/" + key_of(j)); }
    const char* fault_in(const job& j, const response& answer) override {
        if (answer.status != 200) return "unexpected status";
        const bool is_it = answer.body.find("\"" + key_of(j) + "\"") != std::string_view::npos;
        return is_it ? nullptr : "another task";
    }
};

class edits : public among_tasks {
  public:
    using among_tasks::among_tasks;

    std::string_view request(const job& j) override {
        const std::string n = std::to_string(j.item);
        return ask("PATCH /v1/tasks/" + key_of(j),
                   R"({"description":"Mend the tap, visit )" + n + "\"}");
    }
    const char* fault_in(const job&, const response& answer) override {
        return answer.status == 200 ? nullptr : "unexpected status";
    }
};

class pages : public among_tasks {
  public:
    using among_tasks::among_tasks;

    std::string_view request(const job&) override {
        return ask("GET /v1/tasks?pageSize=" + std::to_string(s_.batch));
    }
    const char* fault_in(const job&, const response& answer) override {
        if (answer.status != 200) return "unexpected status";
        return answer.body.find("\"LOAD-") == std::string_view::npos ? "no tasks" : nullptr;
    }
};

// ---- before the run ----

// Creates accounts for this run; the load uses their tokens.
void make_accounts(settings& s) {
    for (unsigned n = 0; n < s.accounts; ++n) {
        char name[40];
        std::snprintf(name, sizeof name, "load-%016llx-%u", static_cast<unsigned long long>(s.seed),
                      n);
        const std::string body = "{\"name\":\"" + std::string(name) + "\",\"prefix\":\"LOAD\"}";
        const auto answer =
            prepare(s.to, {post_json(s.admin_token, "/v1/admin/accounts", body)}, {201});
        s.tokens.push_back(member(answer.body, "token"));
    }
    s.token = s.tokens.front();
    if (s.accounts == 1) s.tokens.clear();
}

void make_series(const settings& s) {
    std::vector<net::http_call> calls;
    for (unsigned i = 1; i < s.series; ++i) {
        const std::string body = "{\"prefix\":\"" + series_name(i) + "\"}";
        calls.push_back(post_json(s.token, "/v1/series", body));
    }
    // 409: an earlier run of this account created it.
    prepare(s.to, std::move(calls), {201, 409});
}

void make_tasks(const settings& s) {
    for (unsigned made = 0; made < s.tasks;) {
        std::string body = "{\"items\":[";
        for (unsigned n = 0; n < 500 && made < s.tasks; ++n, ++made) {
            if (n > 0) body += ",";
            body += "{\"idempotencyKey\":\"" + std::to_string(made) +
                    "\",\"task\":{\"description\":\"Mend the tap in the corridor\"}}";
        }
        // Sequentially: concurrent ones would exceed the account's share.
        prepare(s.to, {post_json(s.token, "/v1/tasks:batchCreate", body + "]}")}, {200});
    }
}

std::unique_ptr<workload> make_work(const settings& s) {
    if (s.what == "get") return std::make_unique<readings>(s);
    if (s.what == "edit") return std::make_unique<edits>(s);
    if (s.what == "list") return std::make_unique<pages>(s);
    if (s.what == "batch") return std::make_unique<batches>(s);
    return std::make_unique<creations>(s);
}

// ---- after the run ----

void print_json(const settings& s, const measured& m) {
    std::printf("{\"connections\":%u,\"series\":%u,\"accounts\":%u,\"format\":\"%s\",",
                s.connections, s.series, s.accounts, s.format.c_str());
    std::printf("\"rate\":%.6g,", s.rate);
    std::printf("\"what\":\"%s\",\"seed\":%llu,", s.what.c_str(),
                static_cast<unsigned long long>(s.seed));
    if (s.what == "batch") std::printf("\"itemsPerSecond\":%.1f,", m.counts.per_second() * s.batch);
    print_json_counts(m);
}

void print_text(const settings& s, const measured& m) {
    std::printf("%u connection%s, %u series, ", s.connections, s.connections == 1 ? "" : "s",
                s.series);
    if (s.accounts > 1) std::printf("%u accounts, ", s.accounts);
    std::printf("%s", s.format.c_str());
    if (s.rate > 0) std::printf(", open loop at %.6g/s", s.rate);
    std::printf(", %.1f s\n", std::chrono::duration<double>(m.counts.elapsed).count());
    print_text_counts(m, s.what + (s.what == "batch" ? "es" : "s"));
    if (s.what == "batch") std::printf("%.0f creations/s\n", m.counts.per_second() * s.batch);
}

// ---- settings ----

settings read_settings(int argc, char** argv) {
    settings s;
    options o("load: measures creations on a running callsignd.");
    o.add("--url", s.url, "server's URL, on a loopback address");
    o.add("--token", s.token, "write token of the account for creations");
    o.add("--admin-token", s.admin_token, "operator token, to create an account for this run");
    o.add("--connections", s.connections,
          "number of connections, 1..1000, each with one request at a time");
    o.add("--series", s.series,
          "number of series: the default and S0001, S0002, ..., created beforehand");
    o.add("--accounts", s.accounts, "number of accounts, used in turn; requires --admin-token");
    o.add("--rate", s.rate, "requests per second, open loop; 0: closed loop");
    o.add("--duration", s.duration,
          "duration after the warm-up; 0ms: 10s, or until --requests are sent");
    o.add("--requests", s.requests, "maximum number of requests; 0: until the duration ends");
    o.add("--warmup", s.warmup, "initial time without measurement");
    o.add("--timeout", s.timeout, "maximum response time");
    o.add("--format", s.format, "json or protobuf");
    o.add("--what", s.what, "create, batch, get, edit or list");
    o.add("--batch", s.batch, "creations per request, or tasks per page, 1..500");
    o.add("--tasks", s.tasks, "tasks to read or edit, created beforehand; requires --admin-token");
    o.add("--retry-share", s.retry_share, "percentage of requests that retry an earlier key");
    o.add("--seed", s.seed, "seed of the keys; 0: random");
    o.add("--json", s.json, "print one JSON object");
    o.parse(argc, argv);

    if (s.connections < 1 || s.connections > 1000) options::fail("--connections must be 1..1000");
    if (s.series < 1 || s.series > series_max) options::fail("--series must be 1..1000");
    if (s.accounts < 1 || s.accounts > 9999) options::fail("--accounts must be 1..9999");
    if (s.accounts > 1 && (!s.token.empty() || s.series > 1 || s.what != "create"))
        options::fail("--accounts requires --what create, --admin-token and --series 1");
    if (s.format != "json" && s.format != "protobuf")
        options::fail("--format must be json or protobuf");
    const std::string_view all_works[] = {"create", "batch", "get", "edit", "list"};
    if (std::ranges::find(all_works, s.what) == std::end(all_works))
        options::fail("--what must be create, batch, get, edit or list");
    if (s.batch < 1 || s.batch > 500) options::fail("--batch must be 1..500");
    if (s.needs_tasks() && (!s.token.empty() || s.tasks < 1))
        options::fail("--what " + s.what + " requires --admin-token, and --tasks of at least 1");
    if (s.retry_share > 100) options::fail("--retry-share must be a percentage");
    if (s.token.empty() && s.admin_token.empty())
        options::fail("--token or --admin-token is required");
    // Every run ends.
    constexpr milliseconds duration_max = std::chrono::minutes(30);
    if (s.duration == milliseconds{0})
        s.duration = s.requests == 0 ? std::chrono::seconds(10) : duration_max;
    s.duration = std::min(s.duration, duration_max);
    if (s.seed == 0) s.seed = draw_seed();
    s.to = parse_target(s.url);
    return s;
}

int run(settings s) {
    if (s.token.empty()) make_accounts(s);
    if (s.series > 1) make_series(s);
    if (s.needs_tasks()) make_tasks(s);

    plan p;
    p.connections = s.connections;
    p.rate = s.rate;
    p.requests = s.requests;
    p.warmup = s.warmup;
    p.duration = s.duration;
    p.timeout = s.timeout;
    const auto work = make_work(s);
    runner r(s.to.endpoint, *work, p);
    const measured m = measure(r);
    if (s.json) {
        print_json(s, m);
    } else {
        print_text(s, m);
    }
    print_faults(m.counts);
    return m.counts.ok() && m.counts.latency.total() > 0 ? 0 : 1;
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    using namespace callsign::bench;
    return run_program("load", [&] { return run(read_settings(argc, argv)); });
}
