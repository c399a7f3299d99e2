#pragma once
// Logs events of the modules. Each probe forwards everything to the metrics.

#include "request_log.hpp"

#include <callsign/engine/outbox.hpp>
#include <callsign/engine/probe.hpp>
#include <callsign/platform/log.hpp>
#include <callsign/reaper/reaper.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace callsign {

class sweep_log final : public reaper_probe {
  public:
    sweep_log(current_logger& log, reaper_probe& next) : log_(log), next_(next) {}

    void swept(const sweep_result& result, milliseconds took) override {
        next_.swept(result, took);
        if (result.committed + result.failed + result.forgotten + result.scrubbed == 0) return;
        log_->log(platform::log_level::info, "sweep",
                  {{"scanned", std::to_string(result.scanned)},
                   {"committed", std::to_string(result.committed)},
                   {"failed", std::to_string(result.failed)},
                   {"forgotten", std::to_string(result.forgotten)},
                   {"scrubbed", std::to_string(result.scrubbed)},
                   {"took", to_duration_text(took)}});
    }

    void sweep_failed(const boost::system::error_code& error) override {
        next_.sweep_failed(error);
        const bool expected = error == errc::shutting_down;
        log_->log(expected ? platform::log_level::debug : platform::log_level::warn, "sweep failed",
                  {{"error", error.message()}});
    }

    void window_chosen(account_class accounts, const window_status& now) override {
        next_.window_chosen(accounts, now);
    }

    void window_changed(account_class accounts, milliseconds from,
                        const window_status& now) override {
        next_.window_changed(accounts, from, now);
        const window_choice& c = now.choice;
        const auto text_of = [](std::optional<milliseconds> span) {
            return span ? to_duration_text(*span) : std::string("none");
        };
        log_->log(platform::log_level::info, "window changed",
                  {{"accounts", std::string(to_string(accounts))},
                   {"from", to_duration_text(from)},
                   {"to", to_duration_text(c.window)},
                   {"why", std::string(to_string(c.reason))},
                   {"wanted", to_duration_text(c.wanted)},
                   {"quantile", text_of(c.inputs.quantile)},
                   {"p50", text_of(now.p50)},
                   {"p90", text_of(now.p90)},
                   {"p99", text_of(now.p99)},
                   {"samples", std::to_string(std::llround(now.samples))},
                   {"counted", std::to_string(std::llround(c.inputs.samples))},
                   {"failed", std::to_string(std::llround(now.failed))},
                   {"late", std::to_string(std::llround(now.late))}});
    }

    void clock_compared(milliseconds behind) override {
        next_.clock_compared(behind);
        const bool is_behind = behind >= clock_behind_noticed;
        if (is_behind == std::exchange(was_behind_, is_behind)) return;
        if (is_behind) {
            log_->log(platform::log_level::warn,
                      "wall clock behind store time; check the system clock",
                      {{"behind", to_duration_text(behind)}});
        } else {
            log_->log(platform::log_level::info, "wall clock caught up with store time", {});
        }
    }

  private:
    current_logger& log_;
    reaper_probe& next_;
    bool was_behind_ = false;
};

// Logs when a remote account starts to fail, halts, or recovers.
class remote_log final : public outbox_probe {
  public:
    remote_log(current_logger& log, outbox_probe& next) : log_(log), next_(next) {}

    void delivered(delivery outcome) override { next_.delivered(outcome); }
    void looked_up() override { next_.looked_up(); }
    void fenced() override { next_.fenced(); }
    void version_pulled() override { next_.version_pulled(); }
    void key_contested() override { next_.key_contested(); }
    void state_changed(account_id account, const remote_status& now) override {
        next_.state_changed(account, now);
        const std::string fault =
            now.halted == remote_halt::none ? now.last_error : std::string(to_string(now.halted));
        std::string& before = faults_[account];
        if (fault == before) return;
        before = fault;
        const std::string id = std::to_string(account.value);
        if (fault.empty()) {
            log_->log(platform::log_level::info, "remote account sync recovered",
                      {{"account", id}});
        } else if (now.halted != remote_halt::none) {
            log_->log(platform::log_level::error,
                      "remote account halted; operator action: callsign account show",
                      {{"account", id}, {"why", fault}});
        } else {
            log_->log(platform::log_level::warn, "remote account sync failed; retrying",
                      {{"account", id}, {"error", fault}});
        }
    }
    void progressed(account_id account, std::int64_t versions) override {
        next_.progressed(account, versions);
        log_->log(
            platform::log_level::info, "importing history from the remote server",
            {{"account", std::to_string(account.value)}, {"versions", std::to_string(versions)}});
    }

  private:
    current_logger& log_;
    outbox_probe& next_;
    std::map<account_id, std::string> faults_;
};

// Logs what is unreadable, each place at most once a minute: clients may request it often.
class damage_log final {
  public:
    explicit damage_log(current_logger& log) : log_(log) {}

    void found(const store_failure& what) {
        const std::string where = what.what();
        const auto now = std::chrono::steady_clock::now();
        if (now - minute_began_ >= std::chrono::minutes{1}) {
            minute_began_ = now;
            logged_.clear();
        }
        if (logged_.size() == places_per_minute_max || !logged_.insert(where).second) return;
        log_->log(platform::log_level::error, event_of(what.reason()), {{"where", where}});
    }

  private:
    static constexpr std::size_t places_per_minute_max = 100;

    static const char* event_of(store_failure::kind reason) {
        if (reason == store_failure::kind::read_failed) return "the disk cannot be read";
        return reason == store_failure::kind::damaged ? "a record is damaged"
                                                      : "the store is damaged";
    }

    current_logger& log_;
    std::chrono::steady_clock::time_point minute_began_{};
    std::set<std::string> logged_;
};

// Logs when writes start to be rejected, when they are accepted again, and what is unreadable.
class write_log final : public engine_probe {
  public:
    write_log(current_logger& log, engine_probe& next) : log_(log), next_(next) {}

    void queue_depth_changed(std::size_t depth) override { next_.queue_depth_changed(depth); }
    void rejected(limit resource) override { next_.rejected(resource); }
    void create_answered(create_outcome outcome) override { next_.create_answered(outcome); }
    void retry_seen(milliseconds after, bool late) override { next_.retry_seen(after, late); }
    void account_full(account_limit limit) override { next_.account_full(limit); }
    void batch_committed(std::size_t commands, std::chrono::nanoseconds batch,
                         std::chrono::nanoseconds commit) override {
        next_.batch_committed(commands, batch, commit);
    }
    void clock_jumped(milliseconds by) override { next_.clock_jumped(by); }
    void batch_failed(std::size_t commands) override { next_.batch_failed(commands); }
    void read_failed(const store_failure& why) override {
        next_.read_failed(why);
        damage_.found(why);
    }
    void slots_counted(const slot_counts& counts) override { next_.slots_counted(counts); }
    void totals_counted(const store_totals& totals) override { next_.totals_counted(totals); }

    void write_failure_changed(const std::optional<store_failure>& now) override {
        next_.write_failure_changed(now);
        if (now) {
            log_->log(platform::log_level::error, "writes-rejected",
                      {{"reason", std::string(name_of(now->reason()))}, {"error", now->what()}});
        } else {
            log_->log(platform::log_level::info, "writes-resumed", {});
        }
    }

    static std::string_view name_of(store_failure::kind reason) {
        switch (reason) {
        case store_failure::kind::full: return "disk-full";
        case store_failure::kind::io_error: return "io-error";
        case store_failure::kind::read_only: return "read-only";
        case store_failure::kind::corrupt: return "damaged";
        default: return "rejected";
        }
    }

  private:
    current_logger& log_;
    engine_probe& next_;
    damage_log damage_{log_};
};

}  // namespace callsign
