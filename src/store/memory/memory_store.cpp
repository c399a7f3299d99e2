#include "empty_rows.hpp"
#include "reads.hpp"
#include "write_transaction.hpp"

#include <callsign/store/memory.hpp>

#include <memory>
#include <mutex>

namespace callsign {
namespace {

using memory::rows;

class memory_store final : public strict_memory_store {
  public:
    memory_store() { committed_ = durable_ = memory::empty_rows(); }

    std::unique_ptr<write_tx> begin_write() override {
        auto commit = [this](std::shared_ptr<rows> next, bool durable) {
            const std::scoped_lock lock(mutex_);
            if (next) committed_ = std::move(next);
            if (durable) durable_ = committed_;
        };
        return memory::begin_write(std::make_shared<rows>(*view()), commit, &forgotten_);
    }

    std::unique_ptr<read_tx> begin_read() override {
        return std::make_unique<memory::reads_over<read_tx>>(view());
    }

    void sync() override {
        const std::scoped_lock lock(mutex_);
        durable_ = committed_;
    }
    void lose_unsynced() override {
        const std::scoped_lock lock(mutex_);
        committed_ = durable_;
    }
    std::unique_ptr<read_tx> begin_durable_read() override {
        const std::scoped_lock lock(mutex_);
        return std::make_unique<memory::reads_over<read_tx>>(durable_);
    }

    row_of<store_totals> totals() override {
        return begin_read()->get<totals_by_id>(store_totals::only);
    }

    int forgotten_commits() const override { return forgotten_; }
    std::unique_ptr<strict_memory_store> copy() override {
        auto other = std::make_unique<memory_store>();
        other->committed_ = other->durable_ = view();
        return other;
    }

  private:
    std::shared_ptr<rows> view() {
        const std::scoped_lock lock(mutex_);
        return committed_;
    }

    std::mutex mutex_;  // guards the pointers; the committed rows are immutable
    std::shared_ptr<rows> committed_, durable_;
    int forgotten_ = 0;  // writer's thread
};

}  // namespace

std::unique_ptr<strict_memory_store> make_memory_store() {
    return std::make_unique<memory_store>();
}

}  // namespace callsign
