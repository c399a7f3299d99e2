// windows: compares fixed windows of the reaper with the automatic one (domain/auto_window.hpp),
// for several behaviours of clients. For each it prints how many slots failed although their
// clients retried, and the average number of pending rows: the costs of too short and too long
// windows.
//
// Engine, rules and reaper are the server's own, on the memory store and a virtual clock, so days
// pass in seconds and a seed determines the table. Only failing creations are simulated: half of
// them lose the response, half lose the client between the two phases. That is far more than in
// practice, where a server must die at the right moment; the comparison is of windows, not of
// failure rates.
//
//     windows [--seed N] [--days N] [--svg FILE]

#include "options.hpp"
#include "support/test_server.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <queue>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace callsign::bench {
namespace {

using namespace std::chrono_literals;
using testing::test_server;
using testing::virtual_clock;

constexpr std::size_t accounts = 8;
constexpr milliseconds day = 24h;
constexpr milliseconds between_incidents = 4min;

// ---- clients ----

// A failing creation, and when its client retries successfully; none: never.
struct incident {
    milliseconds at{0};
    std::size_t account = 0;
    bool answer_lost = false;  // otherwise the client was lost between the two phases
    std::optional<milliseconds> back{};
};

class chance {
  public:
    explicit chance(std::uint64_t seed) : engine_(seed) {}

    double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    bool once_in(double n) { return unit() * n < 1; }
    milliseconds around(milliseconds span) {  // plus or minus a quarter
        return milliseconds{std::llround(static_cast<double>(span.count()) * (0.75 + unit() / 2))};
    }
    // The time to the next incident, on average `mean`.
    milliseconds until_next(milliseconds mean) {
        return milliseconds{
            std::llround(-std::log(1 - unit()) * static_cast<double>(mean.count()))};
    }
    double normal() {
        return std::sqrt(-2 * std::log(1 - unit())) * std::cos(2 * 3.14159265358979 * unit());
    }

  private:
    std::mt19937_64 engine_;
};

// A period in which no request succeeds.
struct outage {
    milliseconds from{0};
    milliseconds until{0};
};

// Exponential back-off: first and maximum pause.
struct backoff {
    milliseconds first{0};
    milliseconds longest{0};
};

// When the first retry succeeds; one in three is lost.
milliseconds comes_back(chance& c, milliseconds at, backoff pauses,
                        const std::vector<outage>& outages = {}) {
    milliseconds pause = pauses.first;
    for (milliseconds t = at;;) {
        t += 500ms + c.around(pause);
        pause = std::min(2 * pause, pauses.longest);
        const bool is_cut = std::any_of(outages.begin(), outages.end(), [&](const outage& o) {
            return t >= o.from && t < o.until;
        });
        if (!is_cut && !c.once_in(3)) return t;
    }
}

struct behaviour {
    const char* name;
    const char* what;
    std::vector<incident> (*play)(chance& c, milliseconds length);
};

template <class Back>
std::vector<incident> incidents(chance& c, milliseconds length, Back back) {
    std::vector<incident> all;
    for (milliseconds t = c.until_next(between_incidents); t < length;
         t += c.until_next(between_incidents)) {
        incident one{t, static_cast<std::size_t>(c.unit() * accounts), c.once_in(2)};
        // One in five clients never retries.
        if (!c.once_in(5)) one.back = back(t);
        all.push_back(one);
    }
    return all;
}

std::vector<incident> steady(chance& c, milliseconds length) {
    return incidents(c, length, [&](milliseconds t) { return comes_back(c, t, {1s, 30s}); });
}

// Unreachable for a typical minute, and occasionally for hours.
std::vector<incident> mobile(chance& c, milliseconds length) {
    return incidents(c, length, [&](milliseconds t) {
        return t + milliseconds{std::llround(60'000 * std::exp(1.5 * c.normal()))};
    });
}

std::vector<incident> with_outages(chance& c, milliseconds length) {
    std::vector<outage> outages;
    for (const milliseconds at : {length * 2 / 7, length * 5 / 7}) {
        outages.push_back({at, at + 20min});
    }
    const auto back = [&](milliseconds t) { return comes_back(c, t, {1s, 5min}, outages); };
    auto all = incidents(c, length, back);
    // Clients that cannot reach the server leave no slots; requests in flight at the start of an
    // outage do.
    std::erase_if(all, [&](const incident& i) {
        return std::any_of(outages.begin(), outages.end(),
                           [&](const outage& o) { return i.at >= o.from && i.at < o.until; });
    });
    for (const outage& o : outages) {
        for (int n = 0; n < 40; ++n) {
            const milliseconds t = o.from - 1s;
            all.push_back({t, static_cast<std::size_t>(n) % accounts, n % 2 == 0, back(t)});
        }
    }
    std::sort(all.begin(), all.end(),
              [](const incident& a, const incident& b) { return a.at < b.at; });
    return all;
}

// At half time all clients are updated within a day: their pauses are twice as long.
std::vector<incident> new_version(chance& c, milliseconds length) {
    return incidents(c, length, [&](milliseconds t) {
        const double updated =
            static_cast<double>((t - length / 2).count()) / static_cast<double>(day.count());
        const bool is_new = c.unit() < updated;
        return comes_back(c, t, is_new ? backoff{30s, 6min} : backoff{15s, 3min});
    });
}

constexpr std::array behaviours{
    behaviour{"steady", "pauses of 1 s to 30 s", steady},
    behaviour{"mobile", "out of reach, a minute in the middle, long tails", mobile},
    behaviour{"outages", "pauses up to 5 min, two outages of 20 min", with_outages},
    behaviour{"new version", "pauses of 15 s to 3 min, doubled from the middle on", new_version},
};

// ---- run ----

struct point {
    milliseconds at;
    milliseconds window;
};

struct outcome {
    std::string window;  // "auto", or a fixed window
    int wrongly_failed = 0;
    int came_back = 0;  // clients that were lost between the phases and retried
    double mean_pending = 0;
    milliseconds last_window{0};
    std::vector<point> windows{};
};

class run {
  public:
    run(const std::vector<incident>& all, milliseconds length, std::optional<milliseconds> window)
        : all_(all),
          length_(length),
          server_({.reaper = {.interval = 1min, .window = window, .retention = 2 * day},
                   .clock = &clock_,
                   .reaping = true}) {
        done_.window = window ? to_duration_text(*window) : "auto";
        for (std::size_t n = 0; n < accounts; ++n) {
            accounts_.push_back(server_.make_account("a" + std::to_string(n), "SYN").id);
        }
    }

    outcome play() {
        begun_ = clock_.elapsed();
        std::size_t next = 0;
        for (milliseconds minute{0}; minute < length_; minute += 1min) {
            while (next < all_.size() && all_[next].at < minute + 1min) begin(next++);
            while (!returns_.empty() && returns_.top().first < minute + 1min) come_back();
            go_to(minute + 1min);
            look();
        }
        done_.mean_pending = pending_sum_ / (static_cast<double>(length_ / 1min));
        done_.last_window = window();
        return done_;
    }

  private:
    using due = std::pair<milliseconds, std::size_t>;

    // Retries that are due before the next incident come first.
    void begin(std::size_t n) {
        while (!returns_.empty() && returns_.top().first < all_[n].at) come_back();
        go_to(all_[n].at);
        const incident& i = all_[n];
        if (i.answer_lost) {
            server_.run(server_.engine().create(request(n)));
        } else {
            server_.run(server_.engine().submit(request(n)));
        }
        if (i.back) returns_.emplace(*i.back, n);
    }

    void come_back() {
        const auto [at, n] = returns_.top();
        returns_.pop();
        go_to(at);
        const auto answer = server_.run(server_.engine().create(request(n)));
        if (all_[n].answer_lost) return;
        ++done_.came_back;
        if (std::holds_alternative<slot_failed>(*answer)) ++done_.wrongly_failed;
    }

    void go_to(milliseconds at) {
        const milliseconds left = begun_ + at - clock_.elapsed();
        if (left > 0ms) server_.advance(left);
    }

    void look() {
        pending_sum_ += static_cast<double>(server_.disk().totals()->slots.pending);
        const milliseconds now = window();
        if (done_.windows.empty() || done_.windows.back().window != now) {
            done_.windows.push_back({clock_.elapsed() - begun_, now});
        }
    }

    milliseconds window() const { return server_.reaper().status().windows.local.choice.window; }

    reserve request(std::size_t n) const {
        const account_id who = accounts_[all_[n].account];
        return {who, "k" + std::to_string(n), sha256("x"), {}, "", {{"description", "x"}}};
    }

    const std::vector<incident>& all_;
    milliseconds length_;
    virtual_clock clock_;
    mutable test_server server_;
    std::vector<account_id> accounts_;
    milliseconds begun_{0};
    std::priority_queue<due, std::vector<due>, std::greater<>> returns_;
    double pending_sum_ = 0;
    outcome done_;
};

// ---- table and chart ----

struct result_of {
    const behaviour* how;
    std::vector<outcome> outcomes;
};

void print(const std::vector<result_of>& all) {
    std::printf("%-12s %-7s %15s %10s %14s\n", "clients", "window", "wrongly failed", "of",
                "pending");
    for (const result_of& r : all) {
        for (const outcome& o : r.outcomes) {
            std::printf("%-12s %-7s %15d %10d %14.2f", r.how->name, o.window.c_str(),
                        o.wrongly_failed, o.came_back, o.mean_pending);
            if (o.window == "auto") {
                std::printf("   at last %s, %zu changes", to_duration_text(o.last_window).c_str(),
                            o.windows.size() - 1);
            }
            std::printf("\n");
        }
    }
}

class picture {
  public:
    std::string draw(const std::vector<result_of>& all, milliseconds length) {
        out_ << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 520" )"
             << R"(font-family="sans-serif" font-size="11">)"
             << R"(<rect width="1000" height="520" fill="#fff"/>)"
             << "\n";
        for (std::size_t i = 0; i < all.size(); ++i) {
            left_ = 50 + 240 * static_cast<double>(i);
            text(left_, 18, all[i].how->name, "13");
            text(left_, 32, all[i].how->what);
            scatter(all[i]);
            over_time(all[i], length);
        }
        out_ << "</svg>\n";
        return out_.str();
    }

  private:
    static constexpr double width = 190, height = 190;

    void text(double x, double y, const std::string& words, const char* size = "9",
              const char* colour = "#333") {
        out_ << "<text x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << size << "\" fill=\""
             << colour << "\">" << words << "</text>\n";
    }
    void line(double x1, double y1, double x2, double y2, const char* colour = "#999") {
        out_ << "<line x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2
             << "\" stroke=\"" << colour << "\"/>\n";
    }
    void axes(double top, const std::string& below, const std::string& beside) {
        line(left_, top, left_, top + height);
        line(left_, top + height, left_ + width, top + height);
        text(left_, top + height + 28, below);
        text(left_, top - 3, beside);
    }

    // The costs of each window: further left, fewer rows; further down, fewer failed creations.
    void scatter(const result_of& r) {
        constexpr double top = 45;
        double most_failed = 1, most_pending = 0.1;
        for (const outcome& o : r.outcomes) {
            most_failed = std::max(most_failed, static_cast<double>(o.wrongly_failed));
            most_pending = std::max(most_pending, o.mean_pending);
        }
        axes(top, "rows pending on average (to " + rounded(most_pending) + ")",
             "wrongly failed (to " + std::to_string(static_cast<int>(most_failed)) + ")");
        for (const outcome& o : r.outcomes) {
            const bool is_auto = o.window == "auto";
            const char* colour = is_auto ? "#c22" : "#357";
            const double x = left_ + 0.85 * width * o.mean_pending / most_pending;
            const double y = top + height - 0.9 * height * o.wrongly_failed / most_failed;
            out_ << "<circle cx=\"" << x << "\" cy=\"" << y << "\" r=\"4\" fill=\"" << colour
                 << "\"/>\n";
            text(x + 6, y + (is_auto ? 12 : -4), o.window, "10", colour);
        }
    }

    // The automatic window over time, from ten seconds to ten hours on a logarithmic scale.
    void over_time(const result_of& r, milliseconds length) {
        constexpr double top = 295;
        axes(top, "days (to " + std::to_string(length / day) + ")", "current window (auto)");
        const auto height_of = [&](milliseconds w) {
            const double orders = std::log10(static_cast<double>(w.count()) / 10'000);
            return top + height - height * orders / std::log10(3600);
        };
        for (const milliseconds mark :
             {milliseconds{1min}, milliseconds{10min}, milliseconds{1h}}) {
            line(left_, height_of(mark), left_ + width, height_of(mark), "#ddd");
            text(left_ - 28, height_of(mark) + 3, to_duration_text(mark));
        }
        const auto x_of = [&](milliseconds at) {
            return left_ +
                   width * static_cast<double>(at.count()) / static_cast<double>(length.count());
        };
        const auto& steps = r.outcomes.back().windows;
        out_ << R"(<polyline fill="none" stroke="#c22" stroke-width="1.5" points=")";
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const milliseconds until = i + 1 < steps.size() ? steps[i + 1].at : length;
            out_ << x_of(steps[i].at) << "," << height_of(steps[i].window) << " " << x_of(until)
                 << "," << height_of(steps[i].window) << " ";
        }
        out_ << "\"/>\n";
    }

    static std::string rounded(double value) {
        std::ostringstream text;
        text.precision(2);
        text << value;
        return text.str();
    }

    std::ostringstream out_;
    double left_ = 0;
};

int main_with(int argc, char** argv) {
    std::uint64_t seed = 1;
    int days = 7;
    std::string svg;
    options given("windows: compares fixed windows of the reaper with the automatic one.");
    given.add("--seed", seed, "seed of the clients' behaviour");
    given.add("--days", days, "duration in virtual days");
    given.add("--svg", svg, "file for the chart");
    given.parse(argc, argv);
    const milliseconds length = day * days;
    std::vector<result_of> all;
    for (const behaviour& how : behaviours) {
        chance c(seed);
        const auto incidents = how.play(c, length);
        auto& r = all.emplace_back(result_of{&how, {}});
        for (const milliseconds fixed :
             {milliseconds{15s}, milliseconds{1min}, milliseconds{10min}, milliseconds{1h}}) {
            r.outcomes.push_back(run(incidents, length, fixed).play());
        }
        r.outcomes.push_back(run(incidents, length, std::nullopt).play());
    }
    print(all);
    if (!svg.empty()) std::ofstream(svg) << picture().draw(all, length);
    return 0;
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    return callsign::bench::main_with(argc, argv);
}
