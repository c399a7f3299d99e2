#include "retry_watch.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace callsign {
namespace {

using namespace std::chrono_literals;

// Windows that operators commonly set: what each would have done is shown beside the current one.
constexpr std::array<milliseconds, 5> usual_windows{15s, 1min, 10min, 1h, 6h};

bool is_empty(const retry_times& times) {
    return times.samples() == 0 && times.failed_slots() == 0;
}

}  // namespace

retry_watch::retry_watch(const auto_window_options& options)
    : options_(options), all_(watched{retry_times(options.half_life)}) {}

void retry_watch::pass(milliseconds span) {
    for (const account_class c : account_classes) {
        all_[c].times.pass(span);
        all_[c].unkept += span;
    }
}

void retry_watch::saw(const events::retry_seen& retry) {
    if (!counts(retry)) return;
    watched& w = all_[retry.accounts];
    w.times.saw(retry_times::part_of(retry.account), retry.after, retry.found);
    w.has_news = true;
}

bool retry_watch::counts(const events::retry_seen& retry) {
    const bool is_late = retry.found == slot_state::failed;
    const auto [at, is_first] = counted_.try_emplace(retry.slot, counted{retry.after, is_late});
    if (is_first) {
        in_order_.push_back(retry.slot);
        if (in_order_.size() > slots_remembered) {
            counted_.erase(in_order_.front());
            in_order_.pop_front();
        }
        return true;
    }
    counted& before = at->second;
    const auto twice = std::max(2 * before.after, retry_histogram::shortest);
    const bool still_waits = retry.found == slot_state::pending && retry.after >= twice;
    if (!still_waits && !(is_late && !before.failed)) return false;
    before = {retry.after, is_late};
    return true;
}

void retry_watch::failed(const per_class<std::int64_t>& slots) {
    for (const account_class c : account_classes) {
        if (slots[c] == 0) continue;
        all_[c].times.failed(slots[c]);
        all_[c].has_news = true;
    }
}

std::vector<retry_watch::change> retry_watch::choose(const reaper_options& options,
                                                     time_point now) {
    std::vector<change> changes;
    options_ = options.automatic;
    for (const account_class c : account_classes) {
        watched& w = all_[c];
        w.times.set_half_life(options_.half_life);
        const milliseconds before = w.choice.window;
        choose(w, options);
        if (std::exchange(w.is_new, false) || before == w.choice.window) continue;
        // A class without any retries or failures has nothing to report.
        if (c != account_class::local && is_empty(w.times)) continue;
        ++w.changes;
        w.changed_at = now;
        w.has_news = true;
        changes.push_back({c, before});
    }
    return changes;
}

void retry_watch::choose(watched& w, const reaper_options& options) const {
    const retry_record& record = w.times.record();
    const retry_histogram all = w.times.fair(static_cast<double>(options_.samples_min));
    w.choice = choose_window(options_, {all.samples(), all.quantile(options_.quantile),
                                        record.window, record.held, record.derived});
    if (options.window) {
        // The automatic choice is still computed, and shown.
        w.choice.window = *options.window;
        w.choice.reason = window_reason::fixed;
        return;
    }
    const bool is_first = record.window == milliseconds{0};
    w.times.choose(w.choice.window, w.choice.derived, w.choice.changed || is_first);
}

per_class<milliseconds> retry_watch::windows() const {
    per_class<milliseconds> all;
    for (const account_class c : account_classes) all[c] = all_[c].choice.window;
    return all;
}

window_status retry_watch::status(account_class accounts) const {
    const watched& w = all_[accounts];
    window_status s;
    s.choice = w.choice;
    s.samples = w.times.samples();
    const retry_histogram all = w.times.fair(static_cast<double>(options_.samples_min));
    s.p50 = all.quantile(0.5);
    s.p90 = all.quantile(0.9);
    s.p99 = all.quantile(0.99);
    s.failed = w.times.failed_slots();
    s.late = w.times.late_slots();
    s.changes = w.changes;
    s.changed_at = w.changed_at;
    std::vector<milliseconds> windows(usual_windows.begin(), usual_windows.end());
    windows.push_back(w.choice.window);
    windows.push_back(w.choice.wanted);
    std::sort(windows.begin(), windows.end());
    windows.erase(std::unique(windows.begin(), windows.end()), windows.end());
    for (const milliseconds window : windows) s.others.push_back({window, w.times.with(window)});
    for (std::size_t b = 0; b < retry_histogram::buckets; ++b) {
        if (all.weight(b) <= 0) continue;
        const milliseconds edge = retry_histogram::upper_edge(b);
        s.retries.push_back({all.weight(b), {edge, w.times.with(edge)}});
    }
    return s;
}

void retry_watch::restore(account_class accounts, const retry_record& kept) {
    watched& w = all_[accounts];
    retry_times earlier(kept);
    earlier.set_half_life(options_.half_life);
    earlier.add(w.times);
    w.times = earlier;
    w.is_new = true;
}

std::vector<kept_retry_times> retry_watch::news() {
    std::vector<kept_retry_times> all;
    for (const account_class c : account_classes) {
        watched& w = all_[c];
        if (!w.has_news && (is_empty(w.times) || w.unkept < quiet_kept_after)) continue;
        w.has_news = false;
        w.unkept = milliseconds{0};
        all.push_back({c, w.times.record()});
    }
    return all;
}

void retry_watch::keep_again() {
    for (const account_class c : account_classes) all_[c].has_news = true;
}

}  // namespace callsign
