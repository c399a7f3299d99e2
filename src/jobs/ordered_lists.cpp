#include <callsign/domain/query.hpp>
#include <callsign/jobs/ordered_lists.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

std::size_t bytes_of(const ordered_list& list) {
    return sizeof list + list.tasks.size() * sizeof(uuid);
}

std::vector<scanned_task> joined(std::vector<std::vector<scanned_task>> parts) {
    std::size_t count = 0;
    for (const auto& part : parts) count += part.size();
    std::vector<scanned_task> all;
    all.reserve(count);
    for (auto& part : parts) std::ranges::move(part, std::back_inserter(all));
    return all;
}

}  // namespace

void ordered_lists::state::drop(std::deque<shared>::iterator at) {
    kept_bytes -= bytes_of(**at);
    kept.erase(at);
}

void ordered_lists::state::keep(shared list) {
    const auto is_of_account = [&](const shared& each) { return each->account == list->account; };
    const auto count = std::count_if(kept.begin(), kept.end(), is_of_account);
    if (static_cast<std::size_t>(count) >= account_lists_max) {
        drop(std::find_if(kept.begin(), kept.end(), is_of_account));
    }
    const auto is_old = [&](const shared& each) {
        return each->made_at + kept_for < list->made_at ||
               kept_bytes + bytes_of(*list) > kept_bytes_max;
    };
    while (!kept.empty() && is_old(kept.front())) drop(kept.begin());
    kept_bytes += bytes_of(*list);
    kept.push_back(std::move(list));
}

ordered_lists::ordered_lists(engine& engine, clock& clock, entropy& entropy)
    : engine_(engine),
      clock_(clock),
      permits_(clock, {.at_once = made_at_once_max, .payer_at_once = account_made_at_once_max}) {
    std::array<std::uint8_t, sizeof last_id_> random{};
    entropy.fill(random);
    std::memcpy(&last_id_, random.data(), random.size());
}

awaitable<result<ordered_lists::made>> ordered_lists::make(account_id account, task_filter filter,
                                                           task_order order, time_point now) {
    const permits::permit mine = co_await permits_.take(account, milliseconds{0});
    if (!mine) co_return errc::overloaded;
    std::vector<std::vector<scanned_task>> found;  // by step
    std::size_t looked_at = 0;
    std::optional<task_place> after;
    do {
        scan_tasks step{account, filter, order.by, std::move(after), now};
        auto answer = co_await engine_.ask(std::move(step));
        if (!answer) co_return answer.error();
        auto* const part = std::get_if<scan_tasks::part>(&*answer);
        if (!part) co_return made{unknown_series{}};
        for (const scanned_task& t : part->tasks) looked_at += 1 + t.depends.size();
        found.push_back(std::move(part->tasks));
        if (looked_at > looked_at_max) co_return made{too_many{}};
        after = std::move(part->next);
    } while (after);
    // Frees what was found there, too, which takes as long.
    auto put_in_order = [found = std::move(found), &filter, order]() mutable {
        return ordered(joined(std::exchange(found, {})), filter, order);
    };
    auto tasks = co_await engine_.offload({account, {.rows = looked_at}}, std::move(put_in_order));
    if (!tasks) co_return tasks.error();
    auto list = std::make_shared<ordered_list>();
    list->id = ++last_id_;
    list->account = account;
    list->made_at = clock_.elapsed();
    list->tasks = std::move(*tasks);
    state_->keep(list);
    co_return made{shared(std::move(list))};
}

ordered_lists::shared ordered_lists::find(account_id account, std::uint64_t id) const {
    const auto& kept = state_->kept;
    const auto found = std::find_if(kept.begin(), kept.end(), [&](const shared& each) {
        return each->id == id && each->account == account &&
               each->made_at + kept_for >= clock_.elapsed();
    });
    return found == kept.end() ? nullptr : *found;
}

}  // namespace callsign::jobs
