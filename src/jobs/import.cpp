#include <callsign/jobs/import.hpp>

#include <algorithm>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

// Looked at before the first step: a request that is refused for one has imported none.
const import_tasks::imported_task* too_large(const import_tasks& all) {
    const auto found = std::find_if(all.tasks.begin(), all.tasks.end(), [](const auto& t) {
        return size_of(t.attributes) > task_bytes_max;
    });
    return found == all.tasks.end() ? nullptr : &*found;
}

}  // namespace

awaitable<result<import_tasks::answer>> import_into(context& with, std::string name,
                                                    import_tasks rest) {
    if (const auto* large = too_large(rest)) {
        co_return import_tasks::answer(task_too_large{large->uuid});
    }
    find_account question{std::move(name)};
    const auto owner = co_await with.engine.ask(std::move(question));
    if (!owner) co_return owner.error();
    if (!*owner) co_return import_tasks::answer(no_such_account{});
    rest.account = (*owner)->id;

    auto job = with.board.begin(job_kind::import, rest.account);
    const auto total = static_cast<std::int64_t>(rest.tasks.size());
    import_tasks::done all;
    for (;;) {
        import_tasks command = rest;
        const auto answer = co_await with.engine.submit(std::move(command));
        const auto* done = answer ? std::get_if<import_tasks::done>(&*answer) : nullptr;
        if (!done) co_return answer;
        all.imported += done->imported;
        all.there_already += done->there_already;
        all.postponed += done->postponed;
        all.keys_kept += done->keys_kept;
        all.keys_left_out += done->keys_left_out;
        all.taken += done->taken;
        if (done->taken == rest.tasks.size()) co_return import_tasks::answer(all);
        rest.tasks.erase(rest.tasks.begin(),
                         rest.tasks.begin() + static_cast<std::ptrdiff_t>(done->taken));
        job.at({static_cast<std::int64_t>(all.taken), total});
    }
}

}  // namespace callsign::jobs
