#include "readers.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

namespace callsign {

namespace asio = boost::asio;

readers::readers(store& store, clock& clock, const executors& executors,
                 const engine_options& options, callbacks callbacks)
    : store_(store),
      clock_(clock),
      executors_(executors),
      long_max_(std::max<std::size_t>(executors.readers, 2) - 1),
      account_long_max_(std::min(long_max_, options.account_readers_max)),
      callbacks_(std::move(callbacks)),
      free_(executors.readers) {}

readers::~readers() {
    for (auto* lane : {&quick_, &long_, &offloaded_}) {
        const jobs left = take_all(*lane);
        abandon_handlers<job>(left);
    }
}

readers::jobs readers::take_all(fair_queue<job>& from) {
    jobs all;
    while (from.next()) all.push_back(&from.take());
    return all;
}

void readers::push(job& j) {
    fair_queue<job>& lane = j.kind == read_kind::offloaded ? offloaded_
                            : j.is_long()                  ? long_
                                                           : quick_;
    lane.push(j);
    if (quick_.size() == batch_max) return flush_reads();
    flush_reads_soon();
}

// At the end of this turn of the network thread: others may ask in it too.
void readers::flush_reads_soon() {
    if (std::exchange(scheduled_, true)) return;
    asio::post(executors_.network, [this] {
        scheduled_ = false;
        flush_reads();
    });
}

void readers::flush_reads() {
    jobs expired;
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
    for (job* j : expired) j->error = errc::deadline_exceeded;
    // Not at once: the caller of push() does not await its answer yet.
    asio::post(executors_.network, [this, these = carried<job>(std::move(expired))]() mutable {
        callbacks_.completed(these.take());
    });
}

// False: there is nothing to hand over.
bool readers::flush_quick(milliseconds now, jobs& expired) {
    jobs batch;
    while (batch.size() < batch_max && quick_.next()) {
        job& j = quick_.take();
        (j.is_expired(now) ? expired : batch).push_back(&j);
    }
    if (batch.empty()) return false;
    --free_;
    asio::post(executors_.reader, [this, these = carried<job>(std::move(batch))]() mutable {
        answer_all(these.look());
        asio::post(executors_.network, [this, these = std::move(these)]() mutable {
            ++free_;
            finish(these.take());
        });
    });
    return true;
}

bool readers::has_a_reader_left(payer who) const {
    const auto of_who = std::count(long_running_.begin(), long_running_.end(), who);
    return static_cast<std::size_t>(of_who) < account_long_max_;
}

bool readers::flush_long(milliseconds now, jobs& expired) {
    job* next = nullptr;
    while (!next && long_running_.size() < long_max_ &&
           long_.next([this](payer who) { return has_a_reader_left(who); })) {
        job& j = long_.take();
        j.is_expired(now) ? expired.push_back(&j) : void(next = &j);
    }
    if (!next) return false;
    --free_;
    long_running_.push_back(next->who);
    asio::post(executors_.reader, [this, who = next->who, these = carried<job>({next})]() mutable {
        answer_all(these.look());
        asio::post(executors_.network, [this, who, these = std::move(these)]() mutable {
            ++free_;
            long_running_.erase(std::find(long_running_.begin(), long_running_.end(), who));
            finish(these.take());
        });
    });
    return true;
}

void readers::flush_offloaded(milliseconds now, jobs& expired) {
    job* next = nullptr;
    while (!next && !offload_running_ && offloaded_.next()) {
        job& j = offloaded_.take();
        j.is_expired(now) ? expired.push_back(&j) : void(next = &j);
    }
    if (!next) return;
    offload_running_ = true;
    asio::post(executors_.offload, [this, these = carried<job>({next})]() mutable {
        run_one(*these.look().front(), nullptr);
        asio::post(executors_.network, [this, these = std::move(these)]() mutable {
            offload_running_ = false;
            finish(these.take());
        });
    });
}

// The waiting ones are dispatched first: those completed now may ask more.
void readers::finish(jobs done) {
    flush_reads();
    callbacks_.completed(done);
}

// The transaction begins after all of them were asked: each sees what was durable by then.
void readers::answer_all(std::span<job* const> asked) {
    try {
        const auto tx = store_.begin_read();
        for (job* j : asked) run_one(*j, tx.get());
    } catch (const store_failure& failure) {
        // The transaction could not begin, so nobody has an answer.
        const auto error = callbacks_.failed(failure);
        for (job* j : asked) j->error = error;
    }
}

void readers::run_one(job& j, read_tx* tx) {
    try {
        j.run(tx);
    } catch (const store_failure& failure) {
        // This one has no answer; the others may have theirs.
        j.error = callbacks_.failed(failure);
    } catch (...) {
        j.thrown = std::current_exception();
    }
}

}  // namespace callsign
