#pragma once
// What the reaper sees of retries, and the windows that it chooses of it.
//
// A slot counts once, with the first retry for it. Two later ones tell something new: one that
// finds the slot still pending at twice the age, since that is how long its client could need; and
// the first that finds it failed. So a client that holds a key for days, or asks a thousand times a
// second, is one sample. What was counted is remembered of the latest slots only, and not over a
// restart: a sample more is no harm, and no account has more than its say (domain/retry_times.hpp).

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
    // Slots whose retries are remembered as counted: less than a megabyte.
    static constexpr std::size_t slots_remembered = 8192;
    // What passes without retries or failed slots is written down as seldom as that.
    static constexpr milliseconds quiet_kept_after = std::chrono::hours{1};

    explicit retry_watch(const auto_window_options& options);

    void pass(milliseconds span);
    void saw(const events::retry_seen& retry);
    void failed(const per_class<std::int64_t>& slots);

    // ---- windows ----
    // A window is another than before.
    struct change {
        account_class accounts;
        milliseconds from;
    };
    // By the options, and what was seen until now.
    std::vector<change> choose(const reaper_options& options, time_point now);
    // Those chosen last.
    per_class<milliseconds> windows() const;
    window_status status(account_class accounts) const;

    // ---- over restarts ----
    // What an earlier run kept; what was seen since the start is added.
    void restore(account_class accounts, const retry_record& kept);
    // What is to be kept now; it counts as kept until keep_again().
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
        bool is_new = true;      // what is chosen next is no change of what was chosen before
        milliseconds unkept{0};  // since something was written down
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
