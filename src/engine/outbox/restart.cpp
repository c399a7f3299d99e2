// Restarting from a snapshot, or from the beginning of the remote's chain.

#include "replica.hpp"

#include <callsign/domain/work.hpp>

#include <algorithm>
#include <utility>

namespace callsign {

using boost::asio::awaitable;
using event_kind = outbox_event::kind;

namespace {

using imported_task = import_tasks::imported_task;

// Work of several milliseconds does not run on the network thread.
constexpr std::size_t worked_at_once_max = std::size_t{64} << 10;

template <class Work>
awaitable<result<std::invoke_result_t<Work&>>> in_pool(engine& engine, account_id account, cost its,
                                                       Work work) {
    return engine.offload_unless(its.weight() <= worked_at_once_max, {account, its},
                                 std::move(work));
}

// In the order of entry, in which they are numbered.
std::vector<imported_task> in_order(task_map&& tasks) {
    std::vector<imported_task> all;
    for (auto& [id, attributes] : tasks) all.push_back({id, std::move(attributes)});
    const auto entered = [](const imported_task& t) {
        const auto text = value_of(t.attributes, "entry");
        return std::pair(text.size(), text);
    };
    std::ranges::stable_sort(all, {}, entered);
    return all;
}

}  // namespace

awaitable<outbox_event> replica::restart() {
    auto snapshot = co_await sink_->get_snapshot();
    if (auto* const failure = std::get_if<sink_failure>(&snapshot)) {
        co_return failed(*failure);
    }
    auto* const given = std::get_if<sink_snapshot>(&snapshot);
    callsign::find_remote question{remote_.account};
    const auto mirror = co_await with_.engine.ask(question);
    if (!mirror) co_return failed(mirror.error());
    const bool is_new = *mirror && (*mirror)->seq == 0;
    if (given == nullptr && is_new) {
        from_beginning_ = true;
        co_return outbox_event{.what = event_kind::restarted};
    }
    remote_state state;
    if (given != nullptr) {
        state.tasks = replay(std::move(given->tasks));
        state.head = given->version;
        state.versions.push_back(given->version);
    }
    std::optional<outbox_event> ended = co_await follow(state);
    if (ended) co_return *ended;
    if (!remote_.cursor.is_nil()) {
        // The cursor was not gone after all.
        if (std::ranges::find(state.versions, remote_.cursor) != state.versions.end()) {
            co_return failed({sink_failure::kind::not_a_server,
                              "The remote server contradicts itself: a version that it "
                              "reported missing exists.",
                              {}});
        }
        const bool is_empty = state.versions.empty();
        knows_version known{remote_.account, state.versions};
        const auto has_been_here = co_await with_.engine.ask(std::move(known));
        if (!has_been_here) co_return failed(has_been_here.error());
        if (is_empty || *has_been_here) co_return outbox_event{.what = event_kind::diverged};
    }
    ended = co_await take_over(std::move(state));
    if (ended) co_return *ended;
    co_return outbox_event{.what = event_kind::restarted};
}

// Reads up to the end of the remote's chain. None: it was reached.
awaitable<std::optional<outbox_event>> replica::follow(remote_state& state) {
    std::size_t bytes = 0;
    for (const auto& [id, all] : state.tasks.tasks()) bytes += size_of(all);
    for (;;) {
        auto found = co_await sink_->get_child(state.head);
        if (auto* const failure = std::get_if<sink_failure>(&found)) {
            co_return failed(*failure);
        }
        if (std::holds_alternative<sink_up_to_date>(found)) co_return std::nullopt;
        if (std::holds_alternative<sink_gone>(found)) {
            co_return outbox_event{.what = event_kind::incomplete};
        }
        auto& child = std::get<sink_child>(found);
        const cost its{.operations = 1 + child.operations.size() / 8};
        // They are freed there, too, which takes as long.
        auto work = [&state, all = std::move(child.operations)]() mutable {
            std::size_t more = 0;
            for (const auto some = std::exchange(all, {}); const operation& o : some) {
                more += work_of(o);
                state.tasks.carry_out(o);
            }
            return more;
        };
        const auto more = co_await in_pool(with_.engine, remote_.account, its, std::move(work));
        if (!more) co_return failed(more.error());
        bytes += *more;
        if (bytes > with_.options.state_bytes_max) {
            co_return failed({sink_failure::kind::unreadable,
                              "The remote server's tasks exceed the size limit of an import.",
                              {}});
        }
        state.before = std::exchange(state.head, child.version);
        state.versions.push_back(child.version);
        with_.probe.version_pulled();
        if (std::ssize(state.versions) % versions_between_reports == 0) {
            with_.probe.progressed(remote_.account, std::ssize(state.versions));
        }
    }
}

// Finds the mirror's tasks that the remote does not have.
awaitable<std::optional<outbox_event>> replica::find_gone(const task_map& there,
                                                          std::vector<uuid>& gone) {
    for (std::optional<task_place> after;;) {
        read_tasks question{remote_.account, after};
        const auto part = co_await with_.engine.ask(question);
        if (!part) co_return failed(part.error());
        for (const task& t : part->tasks) {
            if (!t.purged && !there.contains(t.uuid)) gone.push_back(t.uuid);
        }
        if (!part->next) co_return std::nullopt;
        after = part->next;
    }
}

// Submits all of the step.
awaitable<std::optional<outbox_event>> replica::submit(apply_remote_state step) {
    do {
        apply_remote_state rest = step;
        const auto done = co_await with_.engine.submit(std::move(rest));
        if (!done) co_return failed(done.error());
        if (const auto* const grown = std::get_if<task_too_large>(&*done)) {
            co_return too_large(*grown);
        }
        if (std::holds_alternative<no_remote>(*done)) co_return moved();
        const std::size_t taken = std::get<apply_remote_state::applied>(*done).taken;
        const std::size_t tasks = std::min(taken, step.tasks.size());
        const auto erase_first = [](auto& all, std::size_t count) {
            all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
        };
        erase_first(step.tasks, tasks);
        erase_first(step.gone, taken - tasks);
    } while (!step.tasks.empty() || !step.gone.empty());
    co_return std::nullopt;
}

awaitable<std::optional<outbox_event>> replica::take_over(remote_state state) {
    auto settle = [&state] { return state.tasks.tasks().size(); };
    constexpr cost many{.rows = 500};
    const auto count = co_await in_pool(with_.engine, remote_.account, many, std::move(settle));
    if (!count) co_return failed(count.error());
    std::vector<uuid> gone;
    // While the account's own tasks are being sent there, a task missing there is not deleted
    // here.
    std::optional<outbox_event> ended;
    if (!remote_.moving) ended = co_await find_gone(state.tasks.tasks(), gone);
    if (ended) co_return ended;
    const apply_remote_state::end reached{state.head, state.before};
    const cost its{.rows = *count};
    auto sort = [&state] { return in_order(std::move(state.tasks.tasks())); };
    auto ordered = co_await in_pool(with_.engine, remote_.account, its, std::move(sort));
    if (!ordered) co_return failed(ordered.error());
    std::vector<imported_task> all = std::move(*ordered);
    for (std::size_t at = 0; at < all.size();) {
        apply_remote_state step{.account = remote_.account};
        for (std::size_t work = 0; at < all.size() && work < step_work_max; ++at) {
            work += work_of_task + 2 * work_of(all[at].attributes);
            step.tasks.push_back(std::move(all[at]));
        }
        ended = co_await submit(std::move(step));
        if (ended) co_return ended;
    }
    constexpr std::size_t gone_at_once = 500;
    for (std::size_t at = 0; at < gone.size(); at += gone_at_once) {
        apply_remote_state step{.account = remote_.account};
        const auto end = std::min(gone.size(), at + gone_at_once);
        step.gone.assign(gone.begin() + static_cast<std::ptrdiff_t>(at),
                         gone.begin() + static_cast<std::ptrdiff_t>(end));
        ended = co_await submit(std::move(step));
        if (ended) co_return ended;
    }
    apply_remote_state last{.account = remote_.account, .reached = reached};
    ended = co_await submit(std::move(last));
    if (ended) co_return ended;
    if (sent_) drop_sent(errc::outcome_unknown);
    has_effects_ = true;
    remote_.cursor = reached.cursor;
    remote_.before = reached.before;
    remote_.partial = {};
    remote_.partial_operations = 0;
    from_beginning_ = remote_.cursor.is_nil();
    co_return std::nullopt;
}

}  // namespace callsign
