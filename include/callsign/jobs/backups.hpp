#pragma once
// Backups of the running server: copied in steps between the writer's batches, written to disk by
// offloaded work. Of the scheduled ones the latest `keep` are kept.
//
// Threads: the network executor. Lifetime: what is passed to the constructor outlives this object;
// call stop() before the engine stops.

#include <callsign/jobs/context.hpp>
#include <callsign/ports/backups.hpp>
#include <callsign/ports/clock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace callsign::jobs {

struct backup_failed {
    std::string why;  // a sentence
};
using backup_answer = std::variant<backup_manifest, backup_failed>;

struct backup_options {
    std::filesystem::path directory{};  // empty: none are scheduled
    milliseconds every{std::chrono::hours{24}};
    std::size_t keep = 7;
};

struct kept_backup {
    std::filesystem::path directory;
    backup_manifest manifest;
};

// Results since the start.
struct backup_record {
    std::optional<backup_manifest> made{};
    std::filesystem::path made_in{};
    std::string error{};  // a sentence; empty: no failure since the last backup
    std::optional<time_point> failed_at{};
};

struct backup_tally {
    std::int64_t made = 0;  // since the start
    std::int64_t failed = 0;
    // When the newest known one was made, earlier runs' scheduled ones included. None: none is
    // known.
    std::optional<time_point> newest{};
};

class backups {
  public:
    // Called after each attempt: the backup made in this directory, or why there is none.
    using report = std::function<void(const std::filesystem::path& dir, const backup_answer&)>;

    backups(context& with, backup_files files, clock& clock) noexcept
        : with_(with), files_(std::move(files)), clock_(clock) {}

    // Makes a backup in `dir`, and removes what was written if it fails. A backup beside the
    // scheduled ones counts as one of them: the oldest are deleted.
    boost::asio::awaitable<result<backup_answer>> make(std::filesystem::path dir);
    // The directory of a scheduled backup that was made now. Empty: none are scheduled.
    std::filesystem::path next_scheduled() const;
    // The scheduled backups, newest first, at most kept_shown_max. Those whose manifest cannot be
    // read are skipped.
    boost::asio::awaitable<result<std::vector<kept_backup>>> kept();
    static constexpr std::size_t kept_shown_max = 100;
    std::optional<progress> in_progress() const noexcept;
    const backup_record& last() const noexcept { return last_; }
    const backup_tally& tally() const noexcept { return tally_; }
    // As passed to run().
    const backup_options& options() const noexcept { return options_; }

    // Makes the scheduled backups until stop(). One that was due while the server was down is made
    // at once.
    boost::asio::awaitable<void> run(boost::asio::any_io_executor network, backup_options options,
                                     report told);
    void stop();

  private:
    boost::asio::awaitable<result<backup_answer>> make_here(const std::filesystem::path& dir);
    boost::asio::awaitable<std::optional<milliseconds>> until_due();
    boost::asio::awaitable<void> drop_old();
    void note(const std::filesystem::path& dir, const backup_answer& outcome);

    context& with_;
    backup_files files_;
    clock& clock_;
    backup_options options_;
    backup_record last_;
    backup_tally tally_;
    report told_;
    std::unique_ptr<timer> pause_;
    bool stopped_ = false;
};

}  // namespace callsign::jobs
