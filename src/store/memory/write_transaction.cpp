#include "write_transaction.hpp"

#include "reads.hpp"

#include <utility>

namespace callsign::memory {
namespace {

class write_transaction final : public reads_over<write_tx> {
  public:
    write_transaction(std::shared_ptr<rows> copy, committer commit, int* forgotten)
        : reads_over(std::move(copy)), commit_(std::move(commit)), forgotten_(forgotten) {}
    write_transaction(const write_transaction&) = delete;
    write_transaction& operator=(const write_transaction&) = delete;
    ~write_transaction() override {
        const bool wrote = !unit().is_empty() || unit_->totals();
        if (wrote && !committed_) ++*forgotten_;
    }

    std::size_t work_done() const override { return work_ + unit().work_done(); }

    void commit() override { end(true); }
    void commit_unsynced() override { end(false); }

  private:
    void end(bool durable) {
        const auto changes = counted_changes();
        for (const table_changes& each : changes) rows_->apply(each);
        committed_ = true;
        commit_(changes.empty() ? nullptr : std::move(rows_), durable);
    }

    committer commit_;
    int* forgotten_;
    bool committed_ = false;
};

}  // namespace

std::unique_ptr<write_tx> begin_write(std::shared_ptr<rows> copy, committer commit,
                                      int* forgotten) {
    return std::make_unique<write_transaction>(std::move(copy), std::move(commit), forgotten);
}

}  // namespace callsign::memory
