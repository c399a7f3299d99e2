#include "empty_rows.hpp"
#include "reads.hpp"
#include "write_transaction.hpp"

#include <callsign/store/memory_database.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace callsign {
namespace {

using memory::rows;

struct state_after final : log_writes {
    explicit state_after(std::shared_ptr<rows> r) : state(std::move(r)) {}
    std::shared_ptr<rows> state;
};

class database final : public memory_database {
  public:
    database() : states_{memory::empty_rows()} {}

    std::unique_ptr<standby_store> connect(clock& clock, const uuid& owner,
                                           memory_link link) override;
    void land_late() override {
        for (const late& each : std::exchange(late_, {})) put(each.row, each.after, each.state);
    }
    void fail_over() override { lose_after(acknowledged_); }
    void lose_after(std::int64_t n) override {
        log_.resize(static_cast<std::size_t>(n));
        states_.resize(log_.size() + 1);
        acknowledged_ = std::min(acknowledged_, n);
    }
    const std::vector<log_row>& log() const override { return log_; }
    std::unique_ptr<read_tx> read() override {
        return std::make_unique<memory::reads_over<read_tx>>(state());
    }

    std::shared_ptr<rows> state() const { return states_.back(); }
    // False: a conflict.
    bool put(const log_row& row, const uuid& after, std::shared_ptr<rows> state) {
        const bool follows = row.n == static_cast<std::int64_t>(log_.size()) + 1 &&
                             (log_.empty() || log_.back().owner == after);
        if (!follows) return false;
        log_.push_back(row);
        states_.push_back(state ? std::move(state) : states_.back());
        return true;
    }
    void acknowledge() { acknowledged_ = std::ssize(log_); }
    void put_later(const log_row& row, const uuid& after, std::shared_ptr<rows> state) {
        late_.push_back({row, after, std::move(state)});
    }

  private:
    struct late {
        log_row row;
        uuid after;
        std::shared_ptr<rows> state;
    };

    std::vector<log_row> log_;
    std::int64_t acknowledged_ = 0;
    std::vector<std::shared_ptr<rows>> states_;  // after each row of the log, and before the first
    std::vector<late> late_;
};

// The log as one server reaches it.
class linked_log final : public log_database {
  public:
    linked_log(database& all, memory_link link) : all_(all), link_(std::move(link)) {}

    outcome append(const log_row& row, const uuid& after, const log_writes* writes) override {
        const auto* const its = static_cast<const state_after*>(writes);
        const auto state = its ? its->state : nullptr;
        switch (link_.fate(row)) {
        case append_fate::answered:
            if (!all_.put(row, after, state)) return outcome::conflict;
            all_.acknowledge();
            return outcome::committed;
        case append_fate::rejected:
            throw store_failure(store_failure::kind::rejected, "no connection");
        case append_fate::lost: break;
        case append_fate::unanswered: all_.put(row, after, state); break;
        case append_fate::late: all_.put_later(row, after, state); break;
        }
        return outcome::unknown;
    }
    std::optional<log_row> last() override {
        expect_reads();
        return all_.log().empty() ? std::nullopt : std::optional(all_.log().back());
    }
    std::optional<log_row> find(std::int64_t n) override {
        expect_reads();
        const auto& log = all_.log();
        if (n < 1 || n > std::ssize(log)) return std::nullopt;
        return log[static_cast<std::size_t>(n - 1)];
    }

    const memory_link& link() const { return link_; }

  private:
    void expect_reads() const {
        if (link_.reads()) return;
        throw store_failure(store_failure::kind::rejected, "no connection");
    }

    database& all_;
    memory_link link_;
};

struct owners_end {
    owners_end(database& all, clock& clock, const uuid& owner, const memory_link& link)
        : table(all, link), log(table, clock, owner, link.log, link.pause) {}

    linked_log table;
    batch_log log;
};

class shared_memory_store final : public store, public shared_store {
  public:
    shared_memory_store(database& all, std::unique_ptr<owners_end> end)
        : all_(all), end_(std::move(end)) {}
    ~shared_memory_store() override { end_->log.release(); }
    shared_memory_store(const shared_memory_store&) = delete;
    shared_memory_store& operator=(const shared_memory_store&) = delete;

    std::unique_ptr<write_tx> begin_write() override {
        auto commit = [this](std::shared_ptr<rows> next, bool /*durable*/) {
            if (next) return end_->log.append(state_after(std::move(next)));
            if (!end_->log.is_held()) end_->log.prove();
        };
        return memory::begin_write(std::make_shared<rows>(*all_.state()), commit, &forgotten_);
    }
    std::unique_ptr<read_tx> begin_read() override {
        end_->log.expect_held();
        return all_.read();
    }
    row_of<store_totals> totals() override {
        return all_.read()->get<totals_by_id>(store_totals::only);
    }

    shared_store* shared() noexcept override { return this; }
    bool is_held() const noexcept override { return end_->log.is_held(); }
    void keep() override { end_->log.keep(); }
    void prove_writable() override { end_->log.prove(); }
    shared_store_usage usage() const noexcept override {
        return {.last_row = end_->log.last(), .trips = {}};
    }
    std::int64_t lost_through() const noexcept override { return end_->log.lost_through(); }
    void forget_loss() noexcept override { end_->log.forget_loss(); }
    void finish_move(bool is_here) noexcept override {
        end_->log.end(is_here ? log_kind::release : log_kind::moved);
    }

  private:
    database& all_;
    std::unique_ptr<owners_end> end_;
    int forgotten_ = 0;
};

class standby final : public standby_store {
  public:
    standby(database& all, clock& clock, const uuid& owner, const memory_link& link)
        : all_(all),
          end_(std::make_unique<owners_end>(all, clock, owner, link)),
          watch_(end_->table, clock, link.log) {}

    bool look() override { return watch_.look(); }
    std::optional<log_row> last() const override { return watch_.last(); }
    std::unique_ptr<store> take_over() override {
        if (!end_->log.take_over(watch_.last(), watch_.highest_seen())) return nullptr;
        return std::make_unique<shared_memory_store>(all_, std::move(end_));
    }

  private:
    database& all_;
    std::unique_ptr<owners_end> end_;
    log_watch watch_;
};

std::unique_ptr<standby_store> database::connect(clock& clock, const uuid& owner,
                                                 memory_link link) {
    return std::make_unique<standby>(*this, clock, owner, link);
}

}  // namespace

std::unique_ptr<memory_database> make_memory_database() {
    return std::make_unique<database>();
}

}  // namespace callsign
