#pragma once
// Observes retries, and chooses the reaper's windows.
//
// A slot counts once, with its first retry. Two later ones add information: one that finds the slot
// still pending at twice the age, since its client may need that long; and the first that finds it
// failed. So a client that holds a key for days, or retries a thousand times a second, is one
// sample. Counted slots are remembered up to a maximum, and not over a restart: an extra sample
// does no harm, and each account's share is limited (domain/retry_times.hpp).

#include <callsign/domain/event.hpp>
#include <callsign/domain/retry_times.hpp>
#include <callsign/reaper/reaper.hpp>

#include <cstddef>
#include <deque>
#include <unordered_map>
#include <vector>

namespace callsign {

class retry_watch {
  public:
    // Slots remembered as counted: less than a megabyte.
    static constexpr std::size_t slots_remembered = 8192;
    // Time without retries or failed slots is stored this rarely.
    static constexpr milliseconds quiet_kept_after = std::chrono::hours{1};

    explicit retry_watch(const auto_window_options& options);

    void pass(milliseconds span);
    void saw(const events::retry_seen& retry);
    void failed(const per_class<std::int64_t>& slots);

    // ---- windows ----
    // A window that differs from the one before.
    struct change {
        account_class accounts;
        milliseconds from;
    };
    // Chooses by the options, and by what was seen until now.
    std::vector<change> choose(const reaper_options& options, time_point now);
    // Those chosen last.
    per_class<milliseconds> windows() const;
    window_status status(account_class accounts) const;

    // ---- over restarts ----
    // Adds what an earlier run stored to what was seen since the start.
    void restore(account_class accounts, const retry_record& kept);
    // What is to be stored now; it counts as stored until keep_again().
    std::vector<kept_retry_times> news();
    void keep_again();

  private:
    struct counted {
        milliseconds after;
        bool failed;
    };
    struct watched {
        retry_times times;
        window_choice choice{};
        bool is_new = true;      // the next choice is not reported as a change
        milliseconds unkept{0};  // since the times were last stored
        bool has_news = false;
        std::int64_t changes = 0;
        std::optional<time_point> changed_at{};
    };

    bool counts(const events::retry_seen& retry);
    void choose(watched& w, const reaper_options& options) const;

    auto_window_options options_;
    per_class<watched> all_;
    std::unordered_map<slot_id, counted> counted_;
    std::deque<slot_id> in_order_;  // of their first retries
};

}  // namespace callsign
