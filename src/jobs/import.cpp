#include <callsign/jobs/import.hpp>

#include <algorithm>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

// Checked before the first step: a request that is rejected for it has imported nothing.
const import_tasks::imported_task* too_large(const import_tasks& all) {
    const auto found = std::find_if(all.tasks.begin(), all.tasks.end(),
                                    [](const auto& t) { return is_oversized(t.attributes); });
    return found == all.tasks.end() ? nullptr : &*found;
}

// Adds the errors of a step whose tasks begin at index `from`.
void add_errors(std::vector<import_tasks::key_fault>& all,
                const std::vector<import_tasks::key_fault>& found, std::size_t from) {
    for (import_tasks::key_fault fault : found) {
        fault.task += from;
        all.push_back(std::move(fault));
    }
}

// A check reads all tasks; otherwise the first step that is rejected is the last.
awaitable<result<import_tasks::answer>> take_steps(context& with, import_tasks rest, actor by) {
    auto job = with.board.begin(job_kind::import, rest.account);
    const auto total = static_cast<std::int64_t>(rest.tasks.size());
    import_tasks::done all;
    import_tasks::keys_rejected rejected;
    for (;;) {
        import_tasks command = rest;
        actor again = by;
        const auto answer = co_await with.engine.submit(std::move(command), std::move(again));
        if (!answer) co_return answer.error();
        const import_tasks::done* done = std::get_if<import_tasks::done>(&*answer);
        if (const auto* const no = std::get_if<import_tasks::keys_rejected>(&*answer)) {
            add_errors(rejected.faults, no->faults, all.taken);
            if (!rest.check_only) {
                rejected.checked = std::move(all);
                co_return import_tasks::answer(std::move(rejected));
            }
            done = &no->checked;
        }
        if (!done) co_return answer;
        all.imported += done->imported;
        all.there_already += done->there_already;
        all.completed += done->completed;
        all.keys_kept += done->keys_kept;
        all.keys_left_out += done->keys_left_out;
        all.taken += done->taken;
        all.key_attribute = done->key_attribute;
        rest.counted = done->counted;
        if (done->taken == rest.tasks.size()) break;
        rest.tasks.erase(rest.tasks.begin(),
                         rest.tasks.begin() + static_cast<std::ptrdiff_t>(done->taken));
        job.at({static_cast<std::int64_t>(all.taken), total});
    }
    if (!rejected.faults.empty()) co_return import_tasks::answer(std::move(rejected));
    co_return import_tasks::answer(std::move(all));
}

}  // namespace

awaitable<result<import_tasks::answer>> import_into(context& with, std::string name,
                                                    import_tasks rest, actor by) {
    if (const auto* large = too_large(rest)) {
        co_return import_tasks::answer(task_too_large{large->uuid});
    }
    find_account question{std::move(name)};
    const auto owner = co_await with.engine.ask(std::move(question));
    if (!owner) co_return owner.error();
    if (!*owner) co_return import_tasks::answer(no_such_account{});
    rest.account = (*owner)->id;

    if (rest.with_keys && !rest.check_only) {
        import_tasks check = rest;
        check.check_only = true;
        actor checked_by = by;
        auto found = co_await take_steps(with, std::move(check), std::move(checked_by));
        if (!found || !std::holds_alternative<import_tasks::done>(*found)) co_return found;
    }
    co_return co_await take_steps(with, std::move(rest), std::move(by));
}

}  // namespace callsign::jobs
