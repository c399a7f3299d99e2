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

// How long a request waits for another one's snapshot, or for a turn.
constexpr milliseconds patience{30'000};

// A timer in a queue, for as long as its owner waits; also if the owner's frame is dropped.
template <class Queue>
class place {
  public:
    place(std::shared_ptr<const void> owner, Queue* queue, timer& mine)
        : owner_(std::move(owner)), queue_(queue), mine_(&mine) {
        queue_->push_back(mine_);
    }
    ~place() { std::erase(*queue_, mine_); }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

  private:
    std::shared_ptr<const void> owner_;  // of the queue
    Queue* queue_;
    timer* mine_;
};

}  // namespace

// A snapshot in progress, and the requests that wait for it.
struct server_snapshots::making {
    std::vector<timer*> waiting;  // each in its frame
    std::optional<result<shared>> outcome;
};

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

void server_snapshots::state::wake_next() const {
    if (makers < made_at_once_max && !queue.empty()) queue.front()->cancel();
}

// The right to make a snapshot: the only one of its account, one of few in all. Wakes the requests
// that wait for it when it ends, however it ends.
class server_snapshots::turn {
  public:
    turn(std::shared_ptr<state> all, account_id account)
        : state_(std::move(all)), account_(account), making_(std::make_shared<making>()) {
        state_->under_way.emplace(account_, making_);
    }
    ~turn() {
        state_->under_way.erase(account_);
        for (timer* each : making_->waiting) each->cancel();
        if (has_turn_) --state_->makers;
        state_->wake_next();
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    // False: no turn in time.
    awaitable<bool> begin(clock& clock) {
        const auto executor = co_await boost::asio::this_coro::executor;
        const auto mine = clock.make_timer(executor);
        {
            const place in_queue(state_, &state_->queue, *mine);
            while (state_->makers >= made_at_once_max || state_->queue.front() != mine.get()) {
                const bool waited_out = co_await mine->wait(patience);
                if (waited_out) co_return false;
            }
        }
        has_turn_ = true;
        ++state_->makers;
        state_->wake_next();  // two may have ended before this one ran
        co_return true;
    }

    void end(const result<shared>& outcome) { making_->outcome = outcome; }

  private:
    std::shared_ptr<state> state_;
    account_id account_;
    std::shared_ptr<making> making_;
    bool has_turn_ = false;
};

awaitable<result<server_snapshots::shared>> server_snapshots::of(account_id account,
                                                                 reserve_bytes reserve) {
    const auto head = co_await engine_.ask(find_head{account});
    if (!head) co_return head.error();
    if (head->version.is_nil()) co_return shared{};
    if (auto known = state_->find(account); known && known->version == head->version) {
        co_return known;
    }
    const auto under_way = state_->under_way.find(account);
    if (under_way == state_->under_way.end()) {
        co_return co_await make(account, std::move(reserve));
    }
    // The snapshot in progress will be as of the head at its end, no older than the one just read.
    const std::shared_ptr<making> its = under_way->second;
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto mine = clock_.make_timer(executor);
    const place among_waiting(its, &its->waiting, *mine);
    co_await mine->wait(patience);
    if (!its->outcome) co_return errc::overloaded;
    co_return *its->outcome;
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
    turn mine(state_, account);
    const bool begun = co_await mine.begin(clock_);
    state_->wake_next();  // another is the first in the queue now
    if (!begun) co_return errc::overloaded;
    ++state_->made;
    const auto fail = [&](boost::system::error_code why) {
        mine.end(why);
        return result<shared>(why);
    };

    collected_tasks all(account, bytes_max_);
    for (bool more = true; more;) {
        const std::size_t before = all.bytes();
        const auto added = co_await collect_some(all, account);
        if (!added) co_return fail(added.error());
        more = *added;
        if (!reserve(all.bytes() - before)) co_return fail(errc::overloaded);
    }
    if (all.too_large()) {
        mine.end(shared{});
        co_return shared{};
    }

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
        if (!done) co_return fail(done.error());
    }
    auto finish = [&writer] { return writer.finish(); };
    auto packed = co_await engine_.offload({account, packing_cost}, std::move(finish));
    if (!packed) co_return fail(packed.error());
    auto done =
        std::make_shared<const server_snapshot>(server_snapshot{all.version(), std::move(*packed)});
    state_->keep(account, done);
    mine.end(shared(done));
    co_return shared(done);
}

}  // namespace callsign::jobs
