#include <callsign/jobs/resync.hpp>

#include <algorithm>
#include <optional>
#include <span>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

// Of one command: its tasks are copied, though it may take only some of them.
constexpr std::size_t tasks_at_once_max = 500;
constexpr std::size_t bytes_at_once_max = std::size_t{1} << 20;

using listed = std::vector<import_tasks::imported_task>;

awaitable<result<merge_snapshot::answer>> merge_all(context& with, merge_snapshot its,
                                                    const listed& all, board::job& job) {
    merge_snapshot::done sum;
    while (sum.taken < all.size()) {
        merge_snapshot command = its;
        command.bytes = 0;
        for (std::size_t n = sum.taken; n < all.size(); ++n) {
            const bool is_full =
                command.tasks.size() == tasks_at_once_max || command.bytes > bytes_at_once_max;
            if (is_full) break;
            command.bytes += sizeof(uuid) + size_of(all[n].attributes);
            command.tasks.push_back(all[n]);
        }
        auto answer = co_await with.engine.submit(std::move(command));
        auto* const done = answer ? std::get_if<merge_snapshot::done>(&*answer) : nullptr;
        if (!done) co_return answer;
        sum.taken += done->taken;
        job.at({static_cast<std::int64_t>(sum.taken), static_cast<std::int64_t>(all.size())});
    }
    co_return merge_snapshot::answer(sum);
}

// Returns the account's tasks that are not in `all`, which is in the order of UUIDs.
awaitable<result<std::vector<uuid>>> find_lacking(context& with, account_id account,
                                                  const std::vector<uuid>& all) {
    std::vector<uuid> lacking;
    for (std::optional<task_place> after;;) {
        read_tasks question{account, after};
        auto some = co_await with.engine.ask(std::move(question));
        if (!some) co_return some.error();
        for (const task& t : some->tasks) {
            const bool is_there = std::binary_search(all.begin(), all.end(), t.uuid);
            if (!is_there && !t.purged) lacking.push_back(t.uuid);
        }
        if (!some->next) co_return lacking;
        after = std::move(some->next);
    }
}

awaitable<result<void>> tell_all_again(context& with, const merge_snapshot& its,
                                       std::vector<uuid> lacking) {
    for (std::size_t begun = 0; begun < lacking.size();) {
        const auto rest = std::span<const uuid>(lacking).subspan(begun);
        const auto some = rest.first(std::min(rest.size(), tasks_at_once_max));
        recreate_tasks command{its.client_id, its.version, {some.begin(), some.end()}, its.account};
        const auto answer = co_await with.engine.submit(std::move(command));
        if (!answer) co_return answer.error();
        const auto* const done = std::get_if<recreate_tasks::done>(&*answer);
        if (!done) break;  // revoked meanwhile
        begun += done->taken;
    }
    co_return result<void>();
}

}  // namespace

awaitable<result<merge_snapshot::answer>> merge_in_steps(context& with, merge_snapshot its,
                                                         task_map tasks) {
    if (with.board.count(job_kind::resync) >= resyncs_at_once_max) co_return errc::overloaded;
    auto job = with.board.begin(job_kind::resync, its.account);
    listed all;
    std::vector<uuid> ids;
    all.reserve(tasks.size());
    ids.reserve(tasks.size());
    for (auto& [id, attributes] : tasks) {
        ids.push_back(id);
        all.push_back({id, std::move(attributes)});
    }
    tasks.clear();

    auto answer = co_await merge_all(with, its, all, job);
    if (!answer || !std::holds_alternative<merge_snapshot::done>(*answer)) co_return answer;
    auto lacking = co_await find_lacking(with, its.account, ids);
    if (!lacking) co_return lacking.error();
    const auto told = co_await tell_all_again(with, its, std::move(*lacking));
    if (!told) co_return told.error();
    end_resync end{its.client_id, its.account, true};
    const auto ended = co_await with.engine.submit(std::move(end));
    if (!ended) co_return ended.error();
    co_return answer;
}

}  // namespace callsign::jobs
