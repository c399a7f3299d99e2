#include "read_transaction.hpp"

#include "reads.hpp"

#include <sqlite3.h>

namespace callsign::sqlite {
namespace {

// A base class: initialised before reads_over refers to the connection.
struct borrowed {
    reader_pool& pool;
    std::unique_ptr<connection> reader;
};

class read_transaction final : private borrowed, public reads_over<read_tx> {
  public:
    read_transaction(reader_pool& from, const writers_indexes& indexes)
        : borrowed{from, from.take()}, reads_over(*borrowed::reader, indexes) {
        cache_ = &remembered_;
        try {
            begin();
        } catch (const store_failure&) {
            pool.give_back(std::move(borrowed::reader));
            throw;
        }
    }
    read_transaction(const read_transaction&) = delete;
    read_transaction& operator=(const read_transaction&) = delete;
    ~read_transaction() override {
        try {
            db_.use(sql::commit).run();
        } catch (const store_failure&) {
            // Nothing was written; the connection's next transaction ends this one first.
        }
        pool.give_back(std::move(borrowed::reader));
    }

  private:
    void begin() {
        if (!sqlite3_get_autocommit(db_.database().getHandle())) db_.use(sql::rollback).run();
        db_.use(sql::begin_read).run();
    }

    row_cache remembered_;  // of this snapshot
};

}  // namespace

std::unique_ptr<read_tx> begin_read(reader_pool& pool, const writers_indexes& indexes) {
    return std::make_unique<read_transaction>(pool, indexes);
}

}  // namespace callsign::sqlite
