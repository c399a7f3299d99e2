#include "writer.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace callsign {
namespace {

using stopwatch = std::chrono::steady_clock;

// A heavier command is a batch by itself, so that no light one waits for its commit.
constexpr std::size_t shared_weight_max = std::size_t{512} * 1024;

bool is_light(const work& w) {
    return w.weight <= shared_weight_max;
}

// A batch of 1,024 with one failing command takes 20.
constexpr int attempts_max = 40;

// A larger batch is applied while a sync runs, and committed behind it. A commit costs as much CPU
// time as about eight commands, which is what commands wait for under load.
constexpr std::size_t committed_meanwhile_max = 4;

// Batches that may precede the store's maintenance: as many as a creation has.
constexpr int put_off_max = 2;

// Splits a failed batch: a command that is most of it is isolated at once, between those before and
// behind it; otherwise into two halves.
std::vector<std::span<work* const>> parts_of(std::span<work* const> batch) {
    const auto bytes_of = [](const work* w) { return w->price.bytes; };
    const auto largest = std::ranges::max_element(batch, {}, bytes_of) - batch.begin();
    std::size_t all = 0;
    for (const work* w : batch) all += bytes_of(w);
    std::size_t from = batch.size() / 2, to = from;
    if (bytes_of(batch[static_cast<std::size_t>(largest)]) > all / 2) {
        from = static_cast<std::size_t>(largest);
        to = from + 1;
    }
    std::vector<std::span<work* const>> parts;
    for (const auto part : {batch.first(from), batch.subspan(from, to - from), batch.subspan(to)}) {
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

}  // namespace

writer::writer(store& store, clock& clock, entropy& entropy, const executors& executors,
               const engine_options& options, engine_probe& probe, callbacks callbacks)
    : store_(store),
      clock_(clock),
      executors_(executors),
      options_(options),
      probe_(probe),
      callbacks_(std::move(callbacks)),
      ids_(entropy),
      time_(store.totals()->last_moment, options.trust_clock_after) {
    // This run begins now, not with its first batch.
    time_.read(clock_.now(), clock_.elapsed());
    last_moment_ = time_.now();
    tell_totals();
}

writer::~writer() {
    std::vector<work*> left = std::move(unsynced_.works);
    left.insert(left.end(), committed_.works.begin(), committed_.works.end());
    while (next()) left.push_back(&take());
    abandon_handlers<work>(left);
}

void writer::push(work& w) {
    const std::scoped_lock lock(mutex_);
    queue_.push(w);
    if (!scheduled_) schedule();
}

void writer::schedule() {
    scheduled_ = true;
    boost::asio::post(executors_.writer, [this] { drain(); });
}

// Runs one batch, and posts the next one behind the executor's other work: on a thread of its own
// there is none, in the simulator that is all other threads'.
void writer::drain() {
    std::vector<work*> expired;
    auto batch = take_batch(expired);
    if (!expired.empty()) {
        for (work* w : expired) w->error = errc::deadline_exceeded;
        finish({.works = std::move(expired)});
    }
    if (!batch.empty()) run(batch);

    const std::unique_lock lock(mutex_);
    if (!nothing_waits()) {
        schedule();
        return;
    }
    scheduled_ = false;
}

// Requires: the lock is held, and next() has just returned the work.
work& writer::take() {
    if (left_over_.empty()) return queue_.take();
    work& first = *left_over_.front();
    left_over_.pop_front();
    return first;
}

std::vector<work*> writer::take_batch(std::vector<work*>& expired) {
    const milliseconds now = clock_.elapsed();
    std::vector<work*> batch;
    cost sum{.operations = 0};
    const std::scoped_lock lock(mutex_);
    while (work* w = next()) {
        if (w->is_expired(now)) {
            expired.push_back(&take());
            continue;
        }
        const bool alone = !is_light(*w);
        if (!batch.empty() && (alone || !has_room(batch.size(), sum, w->price))) break;
        sum.bytes += w->price.bytes;
        sum.operations += w->price.operations;
        sum.rows += w->price.rows;
        batch.push_back(&take());
        if (alone) break;
    }
    return batch;
}

// Puts works that were not applied back into the queue. Those of payers whose commands exceeded
// their claims go behind the others.
void writer::take_back(std::vector<work*>& batch) {
    const std::scoped_lock lock(mutex_);
    const auto rest = batch.end() - static_cast<std::ptrdiff_t>(std::exchange(not_applied_, 0));
    const auto is_next = [this](const work* w) { return !overruns_.contains(w->who); };
    const auto behind = std::stable_partition(rest, batch.end(), is_next);
    left_over_.insert(left_over_.begin(), rest, behind);
    queue_.put_back({behind, batch.end()});
    batch.erase(rest, batch.end());
    for (const auto& [who, more] : overruns_) queue_.charge(who, more);
    overruns_.clear();
}

bool writer::has_room(std::size_t commands, const cost& sum, const cost& more) const {
    return commands < options_.batch_commands_max &&
           sum.bytes + more.bytes <= options_.batch_bytes_max &&
           sum.operations + more.operations + sum.rows + more.rows <= options_.batch_operations_max;
}

void writer::run(std::vector<work*>& batch) {
    if (!stopped_ && lost_) stopped_ = errc::shutting_down;
    if (stopped_) {
        reject(batch);
        return make_durable(batch);
    }
    const auto written_before = store_.totals();
    try {
        int attempts = attempts_max;
        apply_in_parts(batch, attempts);
        applied_.reset();
    } catch (...) {
        // Not handled here, and the works never complete: their handlers are destroyed, which own
        // the frames that the works are in.
        abandon_handlers<work>(batch);
        throw;
    }
    take_back(batch);
    // A commit that wrote nothing does not show that writes succeed.
    const bool wrote = store_.totals() != written_before;
    if (stopped_) {
        // Already reported.
    } else if (wrote) {
        note_trouble(std::nullopt);
    } else if (met_) {
        note_trouble(std::move(met_));
    }
    met_.reset();
    make_durable(batch);
    if (stopped_) return;
    bool idle = false, light_waits = false;
    {
        const std::scoped_lock lock(mutex_);
        const work* const waits = next();
        idle = !waits;
        light_waits = waits && is_light(*waits);
    }
    maintain(idle, light_waits);
}

// ---- durability ----

// Queues a batch that is committed, or has failed, for the next sync.
void writer::make_durable(std::vector<work*>& batch) {
    outcomes made = std::exchange(in_progress_, {});
    made.works = std::move(batch);
    made.number = visible_;
    bool by_itself = false;
    {
        const std::scoped_lock lock(mutex_);
        committed_.append(std::move(made));
        if (syncs_ != syncs::none) return;
        take_committed();
        by_itself = lost_ || !executors_.sync || nothing_waits();
        syncs_ = by_itself ? syncs::running : syncs::due;
    }
    if (by_itself) return sync_all();
    boost::asio::post(executors_.sync, [this] {
        if (begin_sync()) sync_all();
    });
}

bool writer::begin_sync() {
    const std::scoped_lock lock(mutex_);
    if (syncs_ != syncs::due) return false;
    syncs_ = syncs::running;
    return true;
}

// Waits until no sync is in progress. A sync that is due runs here: on a single thread it could not
// elsewhere.
void writer::await_sync() {
    if (begin_sync()) return sync_all();
    std::unique_lock lock(mutex_);
    synced_.wait(lock, [this] { return syncs_ == syncs::none; });
}

// Begins a sync. Creations whose first phase it covers are queued for their second. Requires: the
// lock is held.
void writer::take_committed() {
    unsynced_ = std::exchange(committed_, {});
    if (lost_) return;
    std::erase_if(unsynced_.works, [this](work* w) {
        if (w->error || !w->proceed()) return false;
        w->begun = true;
        w->deadline.reset();  // it runs to its end
        queue_.push(*w);
        return true;
    });
    if (!nothing_waits() && !scheduled_) schedule();
}

void writer::sync_all() {
    for (;;) {
        if (lost_) return lose({});
        try {
            store_.sync();
        } catch (const store_failure& failure) {
            return lose(failure.what());
        }
        finish(std::exchange(unsynced_, {}));
        const std::scoped_lock lock(mutex_);
        if (committed_.works.empty()) return end_sync();
        take_committed();
    }
}

// Requires: the lock is held.
void writer::end_sync() {
    syncs_ = syncs::none;
    synced_.notify_all();
}

// It is unknown what of all that waits is durable, now or later: after a restart the store's own
// recovery decides. `why`: empty if that was reported.
void writer::lose(const std::string& why) {
    outcomes all = std::exchange(unsynced_, {});
    {
        const std::scoped_lock lock(mutex_);
        all.append(std::exchange(committed_, {}));
        lost_ = true;
        end_sync();
    }
    for (work* w : all.works) {
        if (!w->error) w->error = errc::outcome_unknown;
    }
    finish({.works = std::move(all.works)});
    if (why.empty()) return;
    boost::asio::post(executors_.network, [this, why] { callbacks_.failed(why); });
}

void writer::outcomes::append(outcomes more) {
    const auto add = [](auto& to, auto& from) {
        if (to.empty()) return std::swap(to, from);
        to.insert(to.end(), from.begin(), from.end());
    };
    add(works, more.works);
    add(happened, more.happened);
    add(batches, more.batches);
    number = more.number;
}

// A checkpoint takes as long as the largest commands do: light commands go first. Measured with
// bench/neighbours: otherwise the p99 of a quiet account beside large creations was a third longer.
void writer::maintain(bool idle, bool light_waits) {
    if (light_waits && put_off_ < put_off_max) {
        ++put_off_;
        return;
    }
    put_off_ = 0;
    try {
        if (auto* const its = store_.embedded()) its->maintain(idle);
    } catch (const store_failure& failure) {
        failed(failure);
    }
}

// Isolates commands that fail: a batch that failed is applied again in parts, down to a single
// command, with a limited number of attempts, since a full disk fails them all. A command that hit
// an unreadable record is known without a search.
void writer::apply_in_parts(std::span<work* const> batch, int& attempts_left) {
    if (batch.empty()) return;
    if (stopped_) return reject(batch);
    // The parts before have taken the time of a batch.
    if (not_applied_ > 0) {
        not_applied_ += batch.size();
        return;
    }
    bool opened = false;
    const auto error = attempt(batch, opened);
    if (error && error == stopped_) return reject(batch);
    if (!error) return;
    for (work* w : batch) w->error = error;
    // If the transaction could not begin, no command is at fault.
    if (!opened || stopped_ || batch.size() == 1) return;
    if (error == errc::record_damaged) {
        const std::size_t guilty = *applied_;
        apply_in_parts(batch.first(guilty), attempts_left);
        // If those before were not all applied, the failing command waits for the next batch, too.
        const std::size_t behind = not_applied_ > 0 ? guilty : guilty + 1;
        return apply_in_parts(batch.subspan(behind), attempts_left);
    }
    for (const auto part : parts_of(batch)) {
        if (not_applied_ == 0) {
            if (attempts_left == 0) return;
            --attempts_left;
        }
        apply_in_parts(part, attempts_left);
    }
}

// Nothing more is written. The outcome of a creation whose first phase was committed is unknown.
void writer::reject(std::span<work* const> batch) {
    for (work* w : batch) {
        const bool is_unknown = w->begun && stopped_ == errc::shutting_down;
        w->error = is_unknown ? errc::outcome_unknown : stopped_;
    }
}

// `opened`: whether the store has begun the transaction.
boost::system::error_code writer::attempt(std::span<work* const>& batch, bool& opened) {
    try {
        if (!apply_and_commit(batch, opened)) stopped_ = errc::shutting_down;
        return stopped_;
    } catch (const store_failure& failure) {
        probe_.batch_failed(batch.size());
        const auto error = failed(failure);
        // The command may be moved out: its caller gets an error.
        if (error == errc::store_damaged && applied_) {
            struck_ = std::move(batch[*applied_]->command);
        }
        return error;
    }
}

// False: a sync has failed meanwhile, and nothing is committed. Otherwise `batch` is what was
// committed.
bool writer::apply_and_commit(std::span<work* const>& batch, bool& opened) {
    const auto begun = stopwatch::now();
    std::vector<event> happened;
    const rules::moment moment = begin_moment(happened);
    applied_.reset();
    const auto tx = store_.begin_write();
    opened = true;
    tx->fetch_ahead([&] {
        rules::footprint all(*tx);
        for (const work* w : batch) all.add(w->command);
        return std::move(all).rows();
    });
    overruns more;
    const std::size_t applied = apply_some(*tx, batch, moment, more);
    tx->flush();
    if (applied > committed_meanwhile_max) await_sync();
    if (lost_) return false;
    const auto applied_at = stopwatch::now();
    ++visible_;
    tx->commit_unsynced();
    in_progress_.append(
        {.happened = std::move(happened), .batches = {{applied, begun, applied_at}}});
    not_applied_ = batch.size() - applied;
    batch = batch.first(applied);
    for (const auto& [who, bytes] : more) overruns_[who] += bytes;
    tell_totals();
    return true;
}

void writer::tell_totals() {
    const auto all = store_.totals();
    probe_.slots_counted(all->slots);
    probe_.totals_counted(*all);
}

// Applies commands from the first on, at least one; returns how many.
std::size_t writer::apply_some(write_tx& tx, std::span<work* const> batch, const rules::moment& m,
                               overruns& more) {
    std::size_t applied = 0, spent = 0;
    while (applied < batch.size() && (applied == 0 || spent < options_.batch_work_max)) {
        applied_ = applied;
        work* const w = batch[applied++];
        w->error = {};
        if (rules::is_for_gone(tx, w->command)) {
            w->error = errc::account_gone;
            continue;
        }
        // emplace, since conversion would take compile time quadratic in the number of commands.
        std::visit([&]<class C>(
                       const C& c) { w->out.emplace<typename C::answer>(rules::apply(tx, c, m)); },
                   w->command);
        if (w->by) rules::record_action(tx, w->command, w->out, *w->by, m);
        const std::size_t before = std::exchange(spent, tx.work_done());
        const std::size_t took = spent - before;
        if (took > w->weight) more[w->who] += took - w->weight;
    }
    applied_.reset();
    return applied;
}

rules::moment writer::begin_moment(std::vector<event>& happened) {
    time_.read(clock_.now(), clock_.elapsed());
    clock_behind_ = time_.lead();
    last_moment_ = time_.now();
    if (time_.jumped() > milliseconds{0}) probe_.clock_jumped(time_.jumped());
    return {.now = time_.now(),
            .ids = ids_,
            .key_attribute = options_.key_attribute,
            .wall = time_.wall(),
            .stored_bytes_max = options_.stored_bytes_max,
            .tokens_max = options_.tokens_max,
            .former_prefixes_max = options_.former_prefixes_max,
            .synced_task_bytes_max = options_.synced_task_bytes_max,
            .ages = &time_,
            .events = &happened};
}

void writer::finish(outcomes done) {
    const auto durable_at = stopwatch::now();
    boost::asio::post(
        executors_.network,
        [this, works = carried<work>(std::move(done.works)), happened = std::move(done.happened),
         batches = std::move(done.batches), number = done.number, durable_at]() mutable {
            for (const batch_times& b : batches) {
                probe_.batch_committed(b.commands, durable_at - b.begun, durable_at - b.applied);
            }
            callbacks_.happened(happened);
            const auto all = works.take();
            if (!all.empty()) callbacks_.completed(all);
            if (number > 0) callbacks_.durable(number);
        });
}

// Returns the error of the commands, and decides whether anything more is written. If it is unknown
// whether a batch is durable the process ends, and after its restart the store's own recovery
// decides. After corruption, queries still run. A record that a command cannot read fails this
// command alone; if none is being applied, it counts as corruption of the store.
boost::system::error_code writer::failed(const store_failure& failure) {
    using kind = store_failure::kind;
    if (failure.is_damage() || failure.reason() == kind::read_failed) {
        boost::asio::post(executors_.network, [this, failure] { callbacks_.unread(failure); });
    }
    if (failure.is_transient()) {
        if (failure.is_lasting()) met_ = failure;
        return failure.reason() == kind::full ? errc::storage_full : errc::store_rejected;
    }
    if (failure.reason() == kind::damaged && applied_) return errc::record_damaged;
    if (failure.is_damage()) {
        stop_for(failure);
        return stopped_;
    }
    const std::string why = failure.what();
    stopped_ = errc::shutting_down;
    boost::asio::post(executors_.network, [this, why] { callbacks_.failed(why); });
    if (failure.reason() == kind::moved) return stopped_;
    return errc::outcome_unknown;
}

// Stops writing until a test shows that the corruption is gone.
void writer::stop_for(const store_failure& damage) {
    stopped_ = errc::store_damaged;
    note_trouble(store_failure(store_failure::kind::corrupt, damage.what()));
}

void writer::look() {
    if (stopped_ || lost_) return;
    try {
        store_.begin_write();
    } catch (const store_failure& failure) {
        failed(failure);
    }
}

void writer::prove() {
    const bool is_damaged = stopped_ == errc::store_damaged;
    if (!trouble_ || (stopped_ && !is_damaged) || lost_) return;
    try {
        auto* const embedded = store_.embedded();
        auto* const shared = store_.shared();
        if (is_damaged && embedded) embedded->prove_readable();
        if (struck_) apply_to_no_effect(*struck_);
        if (embedded) embedded->prove_writable();
        if (shared) shared->prove_writable();
        stopped_ = {};
        struck_.reset();
        note_trouble(std::nullopt);
    } catch (const store_failure& failure) {
        failed(failure);
        if (met_ && !is_damaged) note_trouble(std::move(met_));
    }
    met_.reset();
}

void writer::keep() {
    auto* const shared = store_.shared();
    if (!shared || stopped_ || lost_) return;
    try {
        shared->keep();
    } catch (const store_failure& failure) {
        failed(failure);
        met_.reset();
    }
}

// Throws store_failure, unless a single record cannot be read.
void writer::apply_to_no_effect(const command& c) {
    std::vector<event> nobody_is_told;
    const rules::moment moment = begin_moment(nobody_is_told);
    const auto tx = store_.begin_write();
    try {
        std::visit([&](const auto& any) { rules::apply(*tx, any, moment); }, c);
    } catch (const store_failure& failure) {
        if (failure.reason() != store_failure::kind::damaged) throw;
    }
}

void writer::note_trouble(std::optional<store_failure> now) {
    const auto kind_of = [](const std::optional<store_failure>& each) {
        return each ? std::optional(each->reason()) : std::nullopt;
    };
    const bool is_news = kind_of(now) != kind_of(trouble_);
    trouble_ = std::move(now);
    if (!is_news) return;
    boost::asio::post(executors_.network, [this, now = trouble_] { callbacks_.trouble(now); });
}

}  // namespace callsign
