#include <callsign/domain/claim.hpp>
#include <callsign/jobs/backups.hpp>

#include <algorithm>
#include <chrono>

namespace callsign::jobs {

using boost::asio::awaitable;
namespace fs = std::filesystem;

namespace {

// Pause after a failure.
constexpr milliseconds retry_after = std::chrono::minutes{10};
// Clocks may be set: what is due is checked at least this often.
constexpr milliseconds look_again_after = std::chrono::hours{1};

// Whether the name is from a wrong clock: such a backup's age is unknown, and it is deleted first.
bool is_after(const fs::path& backup, time_point now) {
    const auto at = time_of_backup(backup.filename().string());
    return !at || *at > now;
}

// Offloads slow disk operations; exceptions become results.
template <class Work>
awaitable<result<std::variant<std::invoke_result_t<Work&>, backup_failed>>> beside(context& with,
                                                                                   Work work) {
    using outcome = std::variant<std::invoke_result_t<Work&>, backup_failed>;
    auto guarded = [&work]() -> outcome {
        try {
            return work();
        } catch (const std::exception& wrong) {
            return backup_failed{wrong.what()};
        }
    };
    co_return co_await with.engine.offload(claim{payer::operators(), {}}, std::move(guarded));
}

}  // namespace

awaitable<result<backup_answer>> backups::make(fs::path dir) {
    auto made = co_await make_here(dir);
    if (!made) {
        note(dir, backup_failed{made.error().message()});
    } else {
        note(dir, *made);
        const bool is_whole = std::holds_alternative<backup_manifest>(*made);
        const bool is_scheduled = dir.parent_path() == next_scheduled().parent_path();
        if (is_whole && is_scheduled) co_await drop_old();
    }
    co_return made;
}

fs::path backups::next_scheduled() const {
    if (options_.directory.empty()) return {};
    return options_.directory / backup_name(clock_.now());
}

awaitable<result<backup_answer>> backups::make_here(const fs::path& dir) {
    if (!files_.begin) co_return backup_answer(backup_failed{"The store has no files to back up."});
    if (with_.board.count(job_kind::backup) > 0) {
        co_return backup_answer(backup_failed{"Another backup is in progress."});
    }
    auto job = with_.board.begin(job_kind::backup, account_id{});
    const time_point now = clock_.now();
    auto begun = co_await beside(with_, [&] { return files_.begin(dir); });
    if (!begun) co_return begun.error();
    if (auto* const wrong = std::get_if<backup_failed>(&*begun)) {
        co_return backup_answer(std::move(*wrong));
    }
    auto failed =
        co_await with_.engine.copy_to(std::get<fs::path>(*begun), [&](const amount_done& so_far) {
            job.at({so_far.done, so_far.total});
        });
    backup_answer answer;
    if (failed) {
        answer = backup_failed{*std::move(failed)};
    } else {
        auto finished = co_await beside(with_, [&] { return files_.finish(dir, now); });
        if (finished) {
            answer = std::move(*finished);
        } else {
            answer = backup_failed{finished.error().message()};
        }
    }
    if (std::holds_alternative<backup_failed>(answer)) {
        const auto gone = co_await beside(with_, [&] {
            files_.discard(dir);
            return true;
        });
        static_cast<void>(gone);  // without a manifest it is not a backup
    }
    co_return answer;
}

void backups::note(const fs::path& dir, const backup_answer& outcome) {
    if (const auto* const failed = std::get_if<backup_failed>(&outcome)) {
        ++tally_.failed;
        last_.error = failed->why;
        last_.failed_at = clock_.now();
    } else {
        last_ = {std::get<backup_manifest>(outcome), dir, {}, {}};
        ++tally_.made;
        tally_.newest = last_.made->made_at;
    }
    if (told_) told_(dir, outcome);
}

std::optional<progress> backups::in_progress() const noexcept {
    return with_.board.find(job_kind::backup, account_id{});
}

awaitable<result<std::vector<kept_backup>>> backups::kept() {
    std::vector<kept_backup> found;
    if (options_.directory.empty() || !files_.list) co_return found;
    const auto done = co_await beside(with_, [&] {
        auto all = files_.list(options_.directory);
        const std::size_t shown = std::min(all.size(), kept_shown_max);
        for (std::size_t i = 0; i < shown; ++i) {
            fs::path& dir = all[all.size() - 1 - i];
            try {
                found.push_back({dir, files_.read(dir)});
            } catch (const std::runtime_error&) {
                continue;
            }
        }
        return true;
    });
    if (!done) co_return done.error();
    co_return found;
}

awaitable<void> backups::run(boost::asio::any_io_executor network, backup_options options,
                             report told) {
    options_ = std::move(options);
    told_ = std::move(told);
    pause_ = clock_.make_timer(network);
    while (!options_.directory.empty() && !stopped_) {
        const auto left = co_await until_due();
        if (stopped_) co_return;
        if (left && *left > milliseconds{0}) {
            co_await pause_->wait(std::min(*left, look_again_after));
            continue;
        }
        bool is_made = false;
        if (left) {
            fs::path dir = next_scheduled();
            const auto made = co_await make(std::move(dir));
            is_made = made && std::holds_alternative<backup_manifest>(*made);
        }
        if (!is_made && !stopped_) co_await pause_->wait(std::min(options_.every, retry_after));
    }
}

void backups::stop() {
    stopped_ = true;
    if (pause_) pause_->cancel();
}

// None: unknown.
awaitable<std::optional<milliseconds>> backups::until_due() {
    const auto all = co_await beside(with_, [&] { return files_.list(options_.directory); });
    if (!all) co_return std::nullopt;
    if (const auto* const wrong = std::get_if<backup_failed>(&*all)) {
        note(options_.directory, *wrong);
        co_return std::nullopt;
    }
    const auto& there = std::get<std::vector<fs::path>>(*all);
    const time_point now = clock_.now();
    const auto last = std::ranges::find_if(
        there.rbegin(), there.rend(), [&](const fs::path& each) { return !is_after(each, now); });
    if (last == there.rend()) co_return milliseconds{0};
    const time_point made_at = *time_of_backup(last->filename().string());
    tally_.newest = std::max(tally_.newest.value_or(made_at), made_at);
    co_return options_.every - (now - made_at);
}

awaitable<void> backups::drop_old() {
    const auto dropped = co_await beside(with_, [&] {
        auto all = files_.list(options_.directory);
        const time_point now = clock_.now();
        std::ranges::stable_partition(all,
                                      [&](const fs::path& each) { return is_after(each, now); });
        const std::size_t spare = all.size() - std::min(all.size(), options_.keep);
        for (std::size_t i = 0; i < spare; ++i) files_.discard(all[i]);
        return spare;
    });
    if (!dropped) co_return;
    if (const auto* const wrong = std::get_if<backup_failed>(&*dropped)) {
        note(options_.directory, *wrong);
    }
}

}  // namespace callsign::jobs
