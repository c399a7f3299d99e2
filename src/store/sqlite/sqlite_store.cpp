// The SQLite store: the prepared file, the writer's state, the readers and the checkpointer.

#include "directory_lock.hpp"
#include "disk_reserve.hpp"
#include "durable_files.hpp"
#include "log/checkpointer.hpp"
#include "log/log_sync.hpp"
#include "log/page_checksums.hpp"
#include "prepare_file.hpp"
#include "read_transaction.hpp"
#include "reads.hpp"
#include "tools/file_copy.hpp"
#include "write_transaction.hpp"

#include <callsign/store/sqlite.hpp>

#include <fstream>
#include <functional>
#include <optional>
#include <sqlite3.h>
#include <stdexcept>
#include <string>
#include <utility>

namespace callsign {
namespace {

constexpr char mark_name[] = "callsign.moved";

class sqlite_store final : public store, public embedded_store {
  public:
    explicit sqlite_store(const sqlite_options& options)
        : file_(sqlite::prepare_directory(options.data_dir)),
          options_(options),
          lock_(options.data_dir / "callsign.lock"),
          state_((sqlite::prepare_file(file_, options), file_), options),
          readers_(file_, options),
          log_(state_.db, file_, readers_, options),
          lost_at_close_(options.lost_at_close) {
        state_.db.execute("PRAGMA synchronous = FULL");
        try {
            state_.load();
            sync();
        } catch (const store_failure& failure) {
            using kind = store_failure::kind;
            if (!failure.is_damage() && failure.reason() != kind::read_failed) throw;
            stopped_.emplace(kind::corrupt, failure.what());  // intact data can be read
        }
        // The WAL file is new. SQLite syncs the directory too, but ignores a failure.
        sqlite::sync_directory(options.data_dir);
    }

    // After a failed sync the WAL is kept and nothing is checkpointed: the WAL is all that is left.
    ~sqlite_store() override {
        const bool is_log_lost = state_.log && state_.log->make_up() != SQLITE_OK;
        if (!is_log_lost && log_.finish()) return;
        state_.db.keep_log();
        if (lost_at_close_) lost_at_close_();
    }

    std::unique_ptr<write_tx> begin_write() override {
        if (stopped_) throw *stopped_;
        log_.make_room();
        return sqlite::begin_write(state_);
    }
    std::unique_ptr<read_tx> begin_read() override {
        return sqlite::begin_read(readers_, {&state_.numbers, &state_.places, &state_.keys});
    }
    void sync() override {
        if (log_.is_database_lost()) {
            throw store_failure(store_failure::kind::unknown, "a sync of the database failed");
        }
        const int code = state_.log ? state_.log->make_up() : SQLITE_OK;
        if (code == SQLITE_OK) return;
        throw store_failure(store_failure::kind::unknown,
                            std::string("SQLite's log: ") + sqlite3_errstr(code));
    }
    embedded_store* embedded() noexcept override { return this; }
    row_of<store_totals> totals() override {
        auto known = state_.rows.of<store_totals>().find<totals_by_id>({store_totals::only});
        // Nothing is written if the totals could not be read.
        return known ? known : std::make_shared<const store_totals>();
    }
    void prove_writable() override {
        if (stopped_) throw *stopped_;
        expect_room();
        log_.make_room();
        sqlite::prove_writable(state_);
    }
    void prove_readable() override {
        if (stopped_) {
            load_elsewhere();
            throw store_failure(store_failure::kind::unknown,
                                "what was damaged at the start can be read now");
        }
        state_.db.execute("PRAGMA shrink_memory");
        if (sqlite::reads_well(state_.db)) return;
        throw store_failure(store_failure::kind::corrupt, "damaged: pages have other sums still");
    }
    std::unique_ptr<store_copy> begin_copy(const std::filesystem::path& file) override {
        return sqlite::begin_copy(state_.db, file);
    }
    void maintain(bool idle) override {
        if (std::exchange(state_.log_clearing_due, false)) log_.clear();
        log_.maintain(idle);
    }

  private:
    // Loads another write state, as a start does. Throws store_failure if writing is impossible.
    void load_elsewhere() {
        try {
            sqlite::write_state(file_, options_).load();
        } catch (const SQLite::Exception& error) {
            sqlite::rethrow(error);
        } catch (const store_failure& failure) {
            throw store_failure(store_failure::kind::corrupt, failure.what());
        }
    }

    // A nearly full disk may have space for one page, but not for the batches that are rejected.
    void expect_room() const {
        constexpr std::uintmax_t least = 1 << 20;
        const sqlite_space space = space_of(file_.parent_path());
        if (space.disk_bytes == 0 || space.free_bytes >= least) return;
        throw store_failure(store_failure::kind::full, "less than 1 MiB is free on the disk");
    }

    // Constructed in this order and destroyed in reverse: readers first, so that the writer's
    // connection is the last one and checkpoints when it is closed.
    std::filesystem::path file_;
    sqlite_options options_;
    sqlite::directory_lock lock_;
    sqlite::write_state state_;
    sqlite::reader_pool readers_;
    sqlite::checkpointer log_;
    std::function<void()> lost_at_close_;
    std::optional<store_failure> stopped_;  // corruption prevents writing
};

std::unique_ptr<store> open_with_reserve(const sqlite_options& options) {
    sqlite::disk_reserve room(options.data_dir);
    std::unique_ptr<store> opened;
    try {
        opened = std::make_unique<sqlite_store>(options);
    } catch (const store_failure& failure) {
        // SQLite does not report every effect of a full disk as SQLITE_FULL: shared memory that
        // cannot grow is an I/O error. A failed sync is final.
        const bool is_sync = failure.reason() == store_failure::kind::unknown;
        if (failure.is_damage() || is_sync || !room.give_up()) throw;
    }
    if (!opened) opened = std::make_unique<sqlite_store>(options);
    room.make();
    return opened;
}

}  // namespace

void prepare_data_dir(const std::filesystem::path& dir) {
    sqlite::prepare_directory(dir);
}

void mark_data_dir(const std::filesystem::path& dir, const std::string& sentence) {
    if (!sentence.empty()) return sqlite::write_durably(dir / mark_name, sentence + "\n");
    std::filesystem::remove(dir / mark_name);
    sqlite::sync_directory(dir);
}

std::string mark_of_data_dir(const std::filesystem::path& dir) {
    std::string sentence;
    std::getline(std::ifstream(dir / mark_name), sentence);
    return sentence;
}

std::unique_ptr<store> open_sqlite(const sqlite_options& options) {
    const std::string mark = options.moves ? "" : mark_of_data_dir(options.data_dir);
    if (!mark.empty()) throw std::runtime_error(options.data_dir.string() + ": " + mark);
    const std::string file = (options.data_dir / "callsign.sqlite3").string();
    try {
        return open_with_reserve(options);
    } catch (const SQLite::Exception& error) {
        throw std::runtime_error("cannot open " + file + ": " + error.what());
    } catch (const store_failure& error) {
        throw std::runtime_error("cannot open " + file + ": " + error.what());
    } catch (const std::filesystem::filesystem_error& error) {
        throw std::runtime_error("cannot make " + options.data_dir.string() + ": " +
                                 error.code().message());
    }
}

}  // namespace callsign
