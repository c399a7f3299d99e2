#pragma once
// Work in steps: how far each is, and whether it is still wanted. A job is on the board as long as
// it lives; people look it up, and may cancel it, which it notices before its next step.
//
// Threads: the network executor.

#include <callsign/base/strong_id.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace callsign::jobs {

enum class job_kind : std::uint8_t { conversion, import, snapshot, backup, resync };

struct progress {
    std::int64_t done = 0;
    std::int64_t total = 0;  // 0: not known
};

class board {
    struct entry {
        job_kind kind;
        account_id account;
        progress now{};
        bool cancelled = false;
    };
    using entries = std::vector<entry*>;

  public:
    // In the frame of the coroutine that does the work.
    class job {
      public:
        job(const std::shared_ptr<entries>& all, job_kind kind, account_id account)
            : all_(all), entry_{kind, account} {
            all_->push_back(&entry_);
        }
        ~job() { std::erase(*all_, &entry_); }
        job(const job&) = delete;
        job& operator=(const job&) = delete;

        void at(const progress& now) noexcept { entry_.now = now; }
        bool is_cancelled() const noexcept { return entry_.cancelled; }

      private:
        // Shared: at shutdown a frame may outlive the board.
        std::shared_ptr<entries> all_;
        entry entry_;
    };

    job begin(job_kind kind, account_id account) { return job(all_, kind, account); }

    // Jobs of this kind under way.
    std::size_t count(job_kind kind) const noexcept;
    // Of this account's; the one that was begun first. None: there is none.
    std::optional<progress> find(job_kind kind, account_id account) const noexcept;
    // False: there is none to cancel.
    bool cancel(job_kind kind, account_id account) noexcept;

  private:
    std::shared_ptr<entries> all_ = std::make_shared<entries>();
};

}  // namespace callsign::jobs
