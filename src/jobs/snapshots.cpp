#include <callsign/domain/collected_tasks.hpp>
#include <callsign/jobs/snapshots.hpp>
#include <callsign/wire/segment.hpp>

#include <algorithm>
#include <boost/asio/this_coro.hpp>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

// Of one step: other requests wait behind it.
constexpr std::size_t step_bytes_max = std::size_t{512} * 1024;

// The claim of each step of encoding.
constexpr cost packing_cost{.bytes = step_bytes_max};

// How long a request waits for another one's snapshot, or to make its own.
constexpr milliseconds wait_max{30'000};

}  // namespace

server_snapshots::shared server_snapshots::state::find(account_id account) const {
    const auto found = std::find_if(kept.begin(), kept.end(),
                                    [&](const auto& each) { return each.first == account; });
    return found == kept.end() ? nullptr : found->second;
}

void server_snapshots::state::keep(account_id account, shared snapshot) {
    const auto drop = [&](auto at) {
        kept_bytes -= at->second->packed.size();
        kept.erase(at);
    };
    const auto before = std::find_if(kept.begin(), kept.end(),
                                     [&](const auto& each) { return each.first == account; });
    if (before != kept.end()) drop(before);
    if (snapshot->packed.size() > kept_bytes_max) return;
    while (kept_bytes + snapshot->packed.size() > kept_bytes_max) drop(kept.begin());
    kept_bytes += snapshot->packed.size();
    kept.emplace_back(account, std::move(snapshot));
}

awaitable<result<server_snapshots::shared>> server_snapshots::of(account_id account,
                                                                 reserve_bytes reserve) {
    const auto head = co_await engine_.ask(find_head{account});
    if (!head) co_return head.error();
    if (head->version.is_nil()) co_return shared{};
    if (auto known = state_->find(account); known && known->version == head->version) {
        co_return known;
    }
    const auto in_progress = state_->in_progress.find(account);
    if (in_progress != state_->in_progress.end()) {
        // It will be as of the head at its end, no older than the one just read.
        const std::shared_ptr<outcome> its = in_progress->second;
        const result<shared>* const made = co_await its->get(wait_max);
        co_return made ? *made : result<shared>(errc::overloaded);
    }
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto mine = std::make_shared<outcome>(clock_, executor);
    state_->in_progress.emplace(account, mine);
    // However this ends, those that wait learn of it.
    const std::shared_ptr<void> afterwards(nullptr, [all = state_, account, mine](void*) {
        all->in_progress.erase(account);
        mine->set(errc::overloaded);
    });
    auto made = co_await make(account, std::move(reserve));
    mine->set(made);
    co_return made;
}

// Reads a page and adds it. Returns whether more is to come.
awaitable<result<bool>> server_snapshots::collect_some(collected_tasks& all, account_id account) {
    const claim asks{account, {.bytes = step_bytes_max}};
    std::function<bool()> add;
    if (all.wants_rows()) {
        read_tasks question = all.next_rows();
        auto rows = co_await engine_.ask(std::move(question));
        if (!rows) co_return result<bool>(boost::system::in_place_error, rows.error());
        add = [&all, some = std::move(*rows)]() mutable { return all.add(std::move(some)); };
    } else {
        read_versions question = all.next_versions();
        auto versions = co_await engine_.ask(question);
        if (!versions) co_return result<bool>(boost::system::in_place_error, versions.error());
        if (versions->empty()) co_return result<bool>(boost::system::in_place_value, false);
        add = [&all, some = std::move(*versions)] { return all.add(some); };
    }
    co_return co_await engine_.offload(asks, std::move(add));
}

awaitable<result<server_snapshots::shared>> server_snapshots::make(account_id account,
                                                                   reserve_bytes reserve) {
    const permits::permit mine = co_await permits_.take(account, wait_max);
    if (!mine) co_return errc::overloaded;
    ++state_->made;
    collected_tasks all(account, bytes_max_);
    for (bool more = true; more;) {
        const std::size_t before = all.bytes();
        const auto added = co_await collect_some(all, account);
        if (!added) co_return added.error();
        more = *added;
        if (!reserve(all.bytes() - before)) co_return errc::overloaded;
    }
    if (all.too_large()) co_return shared{};

    wire::snapshot_writer writer;
    while (!all.tasks().empty()) {
        auto step = [&writer, &tasks = all.tasks()] {
            for (std::size_t bytes = 0; bytes < step_bytes_max && !tasks.empty();) {
                const auto first = tasks.begin();
                bytes += sizeof(uuid) + size_of(first->second);
                writer.add(first->first, first->second);
                tasks.erase(first);
            }
            return tasks.empty();
        };
        const auto done = co_await engine_.offload({account, packing_cost}, std::move(step));
        if (!done) co_return done.error();
    }
    auto finish = [&writer] { return writer.finish(); };
    auto packed = co_await engine_.offload({account, packing_cost}, std::move(finish));
    if (!packed) co_return packed.error();
    auto done =
        std::make_shared<const server_snapshot>(server_snapshot{all.version(), std::move(*packed)});
    state_->keep(account, done);
    co_return shared(done);
}

}  // namespace callsign::jobs
