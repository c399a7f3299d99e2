#include "read_transaction.hpp"

#include "reads.hpp"

#include <algorithm>
#include <utility>

namespace callsign::postgres {
namespace {

const std::string begin_snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
const std::string last_owner = "SELECT owner FROM batches ORDER BY n DESC LIMIT 1";
const std::string end_snapshot = "COMMIT";

// The transaction begins with the first query, in the same round trip.
class snapshot final : public query_runner {
  public:
    snapshot(connection& db, const batch_log* log, trip_counts& trips)
        : db_(db), log_(log), trips_(trips) {}

    result run(const std::string& text, const parameters& values) override {
        trips_.add(trip::read);
        const auto trip = [&] {
            const bool begins = add_begin();
            db_.add(text, values);
            return verified(db_.run(), begins);
        };
        auto all = has_begun_ ? trip() : on_live_connection(db_, trip);
        return std::move(all.back());
    }
    void run_by_row(const std::string& text, const parameters& values,
                    const std::function<void()>& first,
                    const std::function<bool(const PGresult&)>& visit) override {
        if (!has_begun_) {
            trips_.add(trip::read);
            on_live_connection(db_, [&] {
                add_begin();
                return verified(db_.run(), true);
            });
        }
        first();
        trips_.add(trip::read);
        db_.add(text, values);
        db_.run_by_row(visit);
        if (log_) log_->expect_held();
    }
    void end() noexcept {
        if (!has_begun_ || !db_.is_open()) return;
        db_.add(end_snapshot);
        db_.run_later();
    }

  private:
    bool add_begin() {
        if (has_begun_) return false;
        db_.add(begin_snapshot);
        db_.add(last_owner);
        return true;
    }
    // What was read is true if the store was held until after it was read.
    std::vector<result> verified(std::vector<result> all, bool has_begun) {
        has_begun_ = has_begun_ || has_begun;
        if (!log_) return all;
        log_->expect_held();
        if (!has_begun) return all;
        const std::string_view owner =
            PQntuples(all[1].get()) == 1 ? bytes_in(*all[1], 0, 0) : std::string_view();
        if (!std::ranges::equal(owner, std::string(log_->owner().begin(), log_->owner().end()))) {
            throw store_failure(store_failure::kind::rejected, "another server owns the store");
        }
        return all;
    }

    connection& db_;
    const batch_log* log_;
    trip_counts& trips_;
    bool has_begun_ = false;
};

class read_transaction final : public reads_over<read_tx> {
  public:
    read_transaction(reader_pool& pool, statements& texts, const batch_log* log)
        : reads_over(texts),
          pool_(pool),
          reader_(pool.take()),
          snapshot_(*reader_, log, pool.trips()) {
        cache_ = &remembered_;
        try {
            if (log) log->expect_held();
        } catch (const store_failure&) {
            pool_.give_back(std::move(reader_));
            throw;
        }
    }
    read_transaction(const read_transaction&) = delete;
    read_transaction& operator=(const read_transaction&) = delete;
    ~read_transaction() override {
        snapshot_.end();
        pool_.give_back(std::move(reader_));
    }

  private:
    query_runner& queries() override { return snapshot_; }

    reader_pool& pool_;
    std::unique_ptr<connection> reader_;
    snapshot snapshot_;
    row_cache remembered_;  // of this snapshot
};

}  // namespace

reader_pool::reader_pool(const connection_options& options, std::size_t readers, trip_counts& trips)
    : trips_(trips) {
    for (std::size_t n = 0; n < std::max<std::size_t>(1, readers); ++n) {
        free_.push_back(std::make_unique<connection>(options));
    }
}

std::unique_ptr<connection> reader_pool::take() {
    std::unique_lock lock(mutex_);
    available_.wait(lock, [this] { return !free_.empty(); });
    auto taken = std::move(free_.back());
    free_.pop_back();
    return taken;
}

void reader_pool::give_back(std::unique_ptr<connection> reader) {
    {
        const std::scoped_lock lock(mutex_);
        free_.push_back(std::move(reader));
    }
    available_.notify_one();
}

std::unique_ptr<read_tx> begin_read(reader_pool& pool, statements& texts, const batch_log* log) {
    return std::make_unique<read_transaction>(pool, texts, log);
}

void read_unowned(connection& db, const connection_options& how,
                  const std::function<void(read_tx&)>& visit) {
    statements texts(column_types::read(db, how.schema));
    trip_counts uncounted;
    reader_pool reader(how, 1, uncounted);
    visit(*begin_read(reader, texts, nullptr));
}

}  // namespace callsign::postgres
