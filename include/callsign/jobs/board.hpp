#pragma once
// Progress and cancellation of work in steps. A job is on the board as long as the object lives;
// operators can query it, and cancel it, which takes effect before its next step.
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
    std::int64_t total = 0;  // 0: unknown
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
    // Lives in the frame of the coroutine that does the work.
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

    std::size_t count(job_kind kind) const noexcept;
    // Progress of the account's job of this kind, of several the one begun first. None: none is
    // running.
    std::optional<progress> find(job_kind kind, account_id account) const noexcept;
    // False: none is running.
    bool cancel(job_kind kind, account_id account) noexcept;

  private:
    std::shared_ptr<entries> all_ = std::make_shared<entries>();
};

}  // namespace callsign::jobs
