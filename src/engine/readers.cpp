#include "readers.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

namespace callsign {

namespace asio = boost::asio;

bool places::has_one_for(payer who) const {
    const auto of_who = std::count(taken_.begin(), taken_.end(), who);
    return static_cast<std::size_t>(of_who) < account_max_;
}

void places::give_back(payer who) {
    taken_.erase(std::find(taken_.begin(), taken_.end(), who));
}

readers::readers(store& store, clock& clock, const executors& executors,
                 const engine_options& options, callbacks callbacks)
    : store_(store),
      clock_(clock),
      executors_(executors),
      callbacks_(std::move(callbacks)),
      free_(executors.readers),
      // One reader is left to the quick queries, if there are two.
      long_places_(std::max<std::size_t>(executors.readers, 2) - 1, options.account_readers_max),
      offload_places_(options.offload_threads, 1) {}

readers::~readers() {
    for (auto* lane : {&quick_, &long_, &offloaded_}) {
        const work_items left = take_all(*lane);
        abandon_handlers<work_item>(left);
    }
    for (const auto& [seen, items] : unanswered_) abandon_handlers<work_item>(items);
}

readers::work_items readers::take_all(fair_queue<work_item>& from) {
    work_items all;
    while (from.next()) all.push_back(&from.take());
    return all;
}

void readers::push(work_item& item) {
    fair_queue<work_item>& lane = item.kind == work_kind::offloaded ? offloaded_
                                  : item.is_long()                  ? long_
                                                                    : quick_;
    lane.push(item);
    if (quick_.size() == batch_max) return flush_reads();
    flush_reads_soon();
}

// At the end of this turn of the network thread, in which more queries may come.
void readers::flush_reads_soon() {
    if (std::exchange(scheduled_, true)) return;
    asio::post(executors_.network, [this] {
        scheduled_ = false;
        flush_reads();
    });
}

void readers::flush_reads() {
    work_items expired;
    const milliseconds now = clock_.elapsed();
    while (free_ > 0) {
        const bool quick_first = quick_is_next_;
        if (quick_first && flush_quick(now, expired)) {
            quick_is_next_ = false;
        } else if (flush_long(now, expired)) {
            quick_is_next_ = true;
        } else if (quick_first || !flush_quick(now, expired)) {
            break;
        }
    }
    flush_offloaded(now, expired);
    if (expired.empty()) return;
    for (work_item* item : expired) item->error = errc::deadline_exceeded;
    // Posted: the caller of push() does not await its result yet.
    asio::post(executors_.network,
               [this, these = carried<work_item>(std::move(expired))]() mutable {
                   callbacks_.completed(these.take());
               });
}

// False: there is nothing to dispatch.
bool readers::flush_quick(milliseconds now, work_items& expired) {
    work_items batch;
    while (batch.size() < batch_max && quick_.next()) {
        work_item& item = quick_.take();
        (item.is_expired(now) ? expired : batch).push_back(&item);
    }
    if (batch.empty()) return false;
    --free_;
    asio::post(executors_.reader, [this, these = carried<work_item>(std::move(batch))]() mutable {
        const std::uint64_t seen = answer_all(these.look());
        asio::post(executors_.network, [this, seen, these = std::move(these)]() mutable {
            ++free_;
            finish(these.take(), seen);
        });
    });
    return true;
}

// nullptr: nothing waits that has a permit.
work_item* readers::take_next(fair_queue<work_item>& from, const places& free, milliseconds now,
                              work_items& expired) {
    const auto may = [&](payer who) { return free.has_one_for(who); };
    while (!free.is_full() && from.next(may)) {
        work_item& item = from.take();
        if (!item.is_expired(now)) return &item;
        expired.push_back(&item);
    }
    return nullptr;
}

bool readers::flush_long(milliseconds now, work_items& expired) {
    work_item* const next = take_next(long_, long_places_, now, expired);
    if (!next) return false;
    --free_;
    long_places_.take(next->who);
    asio::post(
        executors_.reader, [this, who = next->who, these = carried<work_item>({next})]() mutable {
            const std::uint64_t seen = answer_all(these.look());
            asio::post(executors_.network, [this, who, seen, these = std::move(these)]() mutable {
                ++free_;
                long_places_.give_back(who);
                finish(these.take(), seen);
            });
        });
    return true;
}

void readers::flush_offloaded(milliseconds now, work_items& expired) {
    while (work_item* const next = take_next(offloaded_, offload_places_, now, expired)) {
        offload_places_.take(next->who);
        asio::post(executors_.offload, [this, who = next->who,
                                        these = carried<work_item>({next})]() mutable {
            run_one(*these.look().front(), nullptr);
            asio::post(executors_.network, [this, who, these = std::move(these)]() mutable {
                offload_places_.give_back(who);
                finish(these.take(), 0);
            });
        });
    }
}

// Waiting items are dispatched first: the completed ones may lead to more.
void readers::finish(work_items done, std::uint64_t seen) {
    flush_reads();
    if (seen <= durable_) return callbacks_.completed(done);
    if (!lost_) {
        unanswered_.emplace(seen, std::move(done));
        return;
    }
    for (work_item* item : done) item->error = errc::shutting_down;
    callbacks_.completed(done);
}

void readers::durable(std::uint64_t number) {
    durable_ = number;
    while (!unanswered_.empty() && unanswered_.begin()->first <= durable_) {
        const auto next = unanswered_.extract(unanswered_.begin());
        callbacks_.completed(next.mapped());
    }
}

void readers::lose() {
    lost_ = true;
    for (auto& [seen, done] : std::exchange(unanswered_, {})) finish(std::move(done), seen);
}

// The transaction begins after all queries were pushed: each sees what was committed by then.
std::uint64_t readers::answer_all(std::span<work_item* const> asked) {
    try {
        const auto tx = store_.begin_read();
        for (work_item* item : asked) run_one(*item, tx.get());
    } catch (const store_failure& failure) {
        // The transaction could not begin, so no query has a result.
        const auto error = callbacks_.failed(failure);
        for (work_item* item : asked) item->error = error;
    }
    return callbacks_.visible();
}

void readers::run_one(work_item& item, read_tx* tx) {
    try {
        item.run(tx);
    } catch (const store_failure& failure) {
        // This query fails alone.
        item.error = callbacks_.failed(failure);
    } catch (...) {
        item.thrown = std::current_exception();
    }
}

}  // namespace callsign
