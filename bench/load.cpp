// load: sends creations to a running callsignd and says how fast and how evenly they are answered.
//
//     load --url http://127.0.0.1:8080 --token cs_... --connections 64 --duration 10s
//     load ... --rate 1000                     open loop: latency counts from when a request was
//     due load ... --series 1000                   spread over S0001..S1000, made beforehand load
//     ... --retry-share 5                 5 % are replays and must be answered as before
//
// The smallest run: --connections 1 --requests 1. Exits 1 if any answer was not the expected one.

#include "callsign/v1/callsign.pb.h"
#include "options.hpp"
#include "runner.hpp"

#include <callsign/base/uuid.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <random>
#include <sys/resource.h>
#include <unordered_map>

namespace callsign::bench {
namespace {

struct settings {
    std::string url = "http://127.0.0.1:8080";
    std::string token;
    std::string admin_token;
    unsigned connections = 16;
    unsigned series = 1;
    double rate = 0;
    milliseconds duration{0};
    milliseconds warmup{0};
    milliseconds timeout{std::chrono::seconds{30}};
    std::uint64_t requests = 0;
    std::string format = "json";
    double retry_share = 0;
    std::uint64_t seed = 0;
    bool json = false;

    asio::ip::tcp::endpoint endpoint;  // from the url
    std::string authority;
};

// ---- requests ----

// splitmix64: equal inputs give equal outputs, so the key of any item can be made again from its
// number alone.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

constexpr std::size_t key_chars = 36;
constexpr std::size_t item_chars = 12;

// What clients send as an idempotency key: the text of a random-looking UUIDv4.
void write_key(std::uint64_t seed, std::uint64_t item, char* out) {
    const std::uint64_t halves[2] = {mixed(seed ^ mixed(2 * item)),
                                     mixed(seed ^ mixed(2 * item + 1))};
    uuid id;
    std::memcpy(id.data, halves, sizeof halves);
    id.data[6] = static_cast<std::uint8_t>((id.data[6] & 0x0F) | 0x40);
    id.data[8] = static_cast<std::uint8_t>((id.data[8] & 0x3F) | 0x80);
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

std::string series_name(std::uint64_t n) {
    char name[16];
    std::snprintf(name, sizeof name, "S%04u", static_cast<unsigned>(n + 1));
    return name;
}

std::string head(const settings& s, std::string_view path, std::string_view extra,
                 std::string_view media_type, std::size_t body_bytes) {
    std::string text = "POST " + std::string(path) + " HTTP/1.1\r\nHost: " + s.authority +
                       "\r\nAuthorization: Bearer " + s.token +
                       "\r\nContent-Type: " + std::string(media_type) +
                       "\r\nAccept: " + std::string(media_type) + "\r\n";
    text += extra;
    return text + "Content-Length: " + std::to_string(body_bytes) + "\r\n\r\n";
}

// The request of one series, complete but for the key and the item number, whose places are known:
// a request is two small writes into it.
struct request_form {
    std::string bytes;
    std::size_t key_at = 0;
    std::size_t item_at = 0;
};

request_form make_form(const settings& s, const std::string& prefix) {
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
    form.bytes =
        head(s, "/v1/tasks", "Idempotency-Key: \"" + key_place + "\"\r\n", media_type, body.size());
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
        if (s.series == 1) forms_.push_back(make_form(s, ""));
        for (unsigned i = 0; s.series > 1 && i < s.series; ++i)
            forms_.push_back(make_form(s, series_name(i)));
    }

    job next(std::uint64_t n) override {
        const std::uint64_t dice = mixed(~seed_ ^ n);
        if (dice < replay_below_ && !answered_.empty())
            return {answered_[mixed(dice) % answered_.size()].item, true};
        return {n, false};
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
            if (answer.replayed) return "a new creation answered as a replay";
            remember(j.item, answer.body);
            return nullptr;
        }
        if (!answer.replayed) return "a replay answered as a new creation";
        return is_as_before(j.item, answer.body) ? nullptr : "another receipt than before";
    }

  private:
    struct answered {
        std::uint64_t item;
        std::size_t receipt_hash;
    };

    // A percentage, as a bound for a random 64-bit number.
    static std::uint64_t share_of_64_bits(double percent) {
        return percent >= 100 ? ~0ULL : static_cast<std::uint64_t>(std::ldexp(percent / 100, 64));
    }

    // The latest receipts, each as a hash; older items are not replayed any more.
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
        // Forgotten while the replay was under way: nothing to compare with.
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

// Requests made beforehand, one for each n, any of some statuses being fine.
class preparations : public workload {
  public:
    preparations(std::vector<std::string> requests, std::vector<unsigned> fine)
        : requests_(std::move(requests)), fine_(std::move(fine)) {}

    job next(std::uint64_t n) override { return {n, false}; }
    std::string_view request(const job& j) override { return requests_[j.item]; }
    const char* fault_in(const job&, const response& answer) override {
        last_body_ = answer.body;
        for (const unsigned status : fine_)
            if (answer.status == status) return nullptr;
        return "unexpected status";
    }
    const std::string& last_body() const { return last_body_; }

  private:
    std::vector<std::string> requests_;
    std::vector<unsigned> fine_;
    std::string last_body_;
};

// ---- before the run ----

std::string prepare(const settings& s, std::vector<std::string> requests,
                    std::vector<unsigned> fine) {
    plan p;
    p.requests = requests.size();
    p.connections = std::min<unsigned>(16, static_cast<unsigned>(requests.size()));
    p.duration = std::chrono::minutes(5);
    p.timeout = s.timeout;
    preparations work(std::move(requests), std::move(fine));
    const tally done = runner(s.endpoint, work, p).run();
    if (!done.ok()) options::fail("preparing failed: " + done.first_fault);
    return work.last_body();
}

// A new account for this run; its token is what the load is sent with.
void make_account(settings& s) {
    char name[32];
    std::snprintf(name, sizeof name, "load-%016llx", static_cast<unsigned long long>(s.seed));
    const std::string body = "{\"name\":\"" + std::string(name) + "\",\"prefix\":\"LOAD\"}";
    settings as_operator = s;
    as_operator.token = s.admin_token;
    const std::string answer = prepare(
        s, {head(as_operator, "/v1/admin/accounts", "", "application/json", body.size()) + body},
        {201});
    const auto at = answer.find("\"token\":\"");
    if (at == std::string::npos) options::fail("no token in the new account's answer");
    const auto begin = at + std::strlen("\"token\":\"");
    s.token = answer.substr(begin, answer.find('"', begin) - begin);
}

void make_series(const settings& s) {
    std::vector<std::string> requests;
    for (unsigned i = 0; i < s.series; ++i) {
        const std::string body = "{\"prefix\":\"" + series_name(i) + "\"}";
        requests.push_back(head(s, "/v1/series", "", "application/json", body.size()) + body);
    }
    // 409: an earlier run of this account made it.
    prepare(s, std::move(requests), {201, 409});
}

// ---- after the run ----

double in_ms(nanoseconds span) {
    return std::chrono::duration<double, std::milli>(span).count();
}

double cpu_us() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto us = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
    };
    return us(used.ru_utime) + us(used.ru_stime);
}

void print_json(const settings& s, const tally& t, double cpu_us_each) {
    std::printf("{\"connections\":%u,\"series\":%u,\"format\":\"%s\",\"rate\":%.6g,", s.connections,
                s.series, s.format.c_str(), s.rate);
    std::printf("\"seed\":%llu,\"elapsedSeconds\":%.3f,\"answers\":%llu,\"perSecond\":%.1f,",
                static_cast<unsigned long long>(s.seed),
                std::chrono::duration<double>(t.elapsed).count(),
                static_cast<unsigned long long>(t.latency.total()), t.per_second());
    std::printf(
        "\"latencyMs\":{\"mean\":%.3f,\"p50\":%.3f,\"p99\":%.3f,\"p999\":%.3f,\"max\":%.3f},",
        in_ms(t.latency.mean()), in_ms(t.latency.quantile(0.5)), in_ms(t.latency.quantile(0.99)),
        in_ms(t.latency.quantile(0.999)), in_ms(t.latency.max()));
    std::printf("\"statuses\":{");
    const char* comma = "";
    for (std::size_t status = 0; status < t.by_status.size(); ++status) {
        if (t.by_status[status] == 0) continue;
        std::printf("%s\"%zu\":%llu", comma, status,
                    static_cast<unsigned long long>(t.by_status[status]));
        comma = ",";
    }
    std::printf("},\"replays\":%llu,\"unsent\":%llu,\"faults\":{",
                static_cast<unsigned long long>(t.replays),
                static_cast<unsigned long long>(t.unsent));
    comma = "";
    for (const auto& [what, count] : t.faults) {
        std::printf("%s\"%s\":%llu", comma, what.c_str(), static_cast<unsigned long long>(count));
        comma = ",";
    }
    std::printf("},\"generatorCpuUsPerRequest\":%.2f}\n", cpu_us_each);
}

void print_text(const settings& s, const tally& t, double cpu_us_each) {
    std::printf("%u connection%s, %u series, %s", s.connections, s.connections == 1 ? "" : "s",
                s.series, s.format.c_str());
    if (s.rate > 0) std::printf(", open loop at %.6g/s", s.rate);
    std::printf(", %.1f s\n", std::chrono::duration<double>(t.elapsed).count());
    std::printf("  %.0f creates/s   p50 %.3f ms   p99 %.3f ms   p99.9 %.3f ms   max %.3f ms\n",
                t.per_second(), in_ms(t.latency.quantile(0.5)), in_ms(t.latency.quantile(0.99)),
                in_ms(t.latency.quantile(0.999)), in_ms(t.latency.max()));
    std::printf("  answers:");
    for (std::size_t status = 0; status < t.by_status.size(); ++status)
        if (t.by_status[status] != 0)
            std::printf(" %zu: %llu", status, static_cast<unsigned long long>(t.by_status[status]));
    std::printf("   replays: %llu   generator: %.1f us of CPU each\n",
                static_cast<unsigned long long>(t.replays), cpu_us_each);
}

void print_faults(const tally& t) {
    for (const auto& [what, count] : t.faults)
        std::cerr << "fault: " << what << ", " << count << " times\n";
    if (t.unsent != 0)
        std::cerr << "fault: " << t.unsent << " requests came due and were not sent\n";
    if (!t.first_fault.empty()) std::cerr << "the first: " << t.first_fault << "\n";
}

// ---- settings ----

void read_url(settings& s) {
    std::string_view rest = s.url;
    if (!rest.starts_with("http://")) options::fail("--url is http://ADDRESS:PORT");
    rest.remove_prefix(7);
    rest = rest.substr(0, rest.find('/'));
    const auto colon = rest.rfind(':');
    unsigned port = 80;
    if (colon != std::string_view::npos)
        std::from_chars(rest.data() + colon + 1, rest.data() + rest.size(), port);
    std::string host(rest.substr(0, colon));
    if (host == "localhost") host = "127.0.0.1";
    if (host == "[::1]") host = "::1";
    boost::system::error_code error;
    const auto address = asio::ip::make_address(host, error);
    // A load generator pointed at someone else's machine by mistake does harm.
    if (error || !address.is_loopback()) options::fail("--url must name a loopback address");
    s.endpoint = {address, static_cast<std::uint16_t>(port)};
    s.authority = rest;
}

settings read_settings(int argc, char** argv) {
    settings s;
    options o("load: creations for a running callsignd, counted and timed.");
    o.add("--url", s.url, "where it listens, on a loopback address");
    o.add("--token", s.token, "a write token of the account to create in");
    o.add("--admin-token", s.admin_token, "or: the operator's, to make an account for this run");
    o.add("--connections", s.connections, "kept alive, each with one request under way, 1..1000");
    o.add("--series", s.series, "1: the account's default; N: S0001 and so on, made beforehand");
    o.add("--rate", s.rate, "requests a second, open loop; 0: closed loop");
    o.add("--duration", s.duration, "after the warm-up; 0ms: 10s, or as long as --requests need");
    o.add("--requests", s.requests, "stop after so many; 0: after the duration");
    o.add("--warmup", s.warmup, "sent but not measured");
    o.add("--timeout", s.timeout, "an answer that takes longer is a fault");
    o.add("--format", s.format, "json or protobuf");
    o.add("--retry-share", s.retry_share, "percent of requests that replay an earlier key");
    o.add("--seed", s.seed, "of the keys; 0: another one each run");
    o.add("--json", s.json, "print one JSON object");
    o.parse(argc, argv);

    if (s.connections < 1 || s.connections > 1000) options::fail("--connections is 1..1000");
    if (s.series < 1 || s.series > 9999) options::fail("--series is 1..9999");
    if (s.format != "json" && s.format != "protobuf") options::fail("--format is json or protobuf");
    if (s.retry_share > 100) options::fail("--retry-share is a percentage");
    if (s.token.empty() && s.admin_token.empty())
        options::fail("--token or --admin-token is needed");
    // Whatever is asked for, a run ends.
    constexpr milliseconds duration_max = std::chrono::minutes(30);
    if (s.duration == milliseconds{0})
        s.duration = s.requests == 0 ? std::chrono::seconds(10) : duration_max;
    s.duration = std::min(s.duration, duration_max);
    if (s.seed == 0)
        s.seed = (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}();
    read_url(s);
    return s;
}

int run(settings s) {
    if (s.token.empty()) make_account(s);
    if (s.series > 1) make_series(s);

    plan p;
    p.connections = s.connections;
    p.rate = s.rate;
    p.requests = s.requests;
    p.warmup = s.warmup;
    p.duration = s.duration;
    p.timeout = s.timeout;
    creations work(s);
    runner r(s.endpoint, work, p);
    const double cpu_before = cpu_us();
    const tally t = r.run();
    const double cpu_each =
        (cpu_us() - cpu_before) / static_cast<double>(std::max<std::uint64_t>(t.sent, 1));

    if (s.json) {
        print_json(s, t, cpu_each);
    } else {
        print_text(s, t, cpu_each);
    }
    print_faults(t);
    return t.ok() && t.latency.total() > 0 ? 0 : 1;
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    try {
        return callsign::bench::run(callsign::bench::read_settings(argc, argv));
    } catch (const std::exception& e) {
        std::cerr << "load: " << e.what() << "\n";
        return 2;
    }
}
