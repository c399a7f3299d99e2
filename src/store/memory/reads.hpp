#pragma once
// Reads of both kinds of transaction, over one state of the rows.

#include "rows.hpp"

#include <callsign/ports/store.hpp>

namespace callsign::memory {

// Base is read_tx or write_tx.
template <class Base>
class reads_over : public Base {
  public:
    explicit reads_over(std::shared_ptr<rows> view) : rows_(std::move(view)) {}

    row_ptr fetch(const index_info& index, const row_key& key, bool head) override {
        return worked(index, rows_->fetch(index, key), head);
    }
    row_page scan(const row_range& range) override {
        row_page page = rows_->scan(range);
        for (const row_ptr& row : page.rows) worked(*range.index, row, range.heads);
        return page;
    }

  protected:
    // A reader shares the committed state and must not modify it.
    std::shared_ptr<rows> rows_;
    std::size_t work_ = 0;

  private:
    row_ptr worked(const index_info& index, row_ptr row, bool head) {
        if (row && !head) work_ += index.table->work_of(row.get());
        return row;
    }
};

}  // namespace callsign::memory
