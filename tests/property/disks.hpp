#pragma once
// Storage for tests that kill the server: memory; SQLite, whose files the next process finds as
// they are; SQLite with a power cut at each kill; and PostgreSQL.

#include "support/postgres.hpp"
#include "support/temp_dir.hpp"
#include "support/unsafe_disk.hpp"
#include "support/virtual_clock.hpp"

#include <callsign/store/memory.hpp>
#include <callsign/store/sqlite.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace callsign::testing {

class disk {
  public:
    virtual ~disk() = default;
    virtual store& open() = 0;
    // Reads the data that is certain to survive a kill; more may survive if a sync was in progress.
    virtual std::unique_ptr<read_tx> begin_durable_read() = 0;
    // Ends the process; uncommitted data is lost.
    virtual void kill() = 0;
};

class memory_disk final : public disk {
  public:
    store& open() override { return *store_; }
    std::unique_ptr<read_tx> begin_durable_read() override { return store_->begin_durable_read(); }
    // Every second kill is a power cut. Otherwise the next start makes durable what it finds.
    void kill() override { ++kills_ % 2 == 0 ? store_->lose_unsynced() : store_->sync(); }

  private:
    std::unique_ptr<strict_memory_store> store_ = make_memory_store();
    int kills_ = 0;
};

// A kill preserves the files as they are, before closing the store could change them.
class sqlite_disk : public disk {
  public:
    store& open() override {
        sqlite_options options;
        options.data_dir = at_;
        options.recent_keys_max = 4;
        options.buffered_entries_max = 4;
        options.key_filter_bytes_max = 256;
        options.wal_pages_max = 24;
        options.moved_pages_max = 4;
        options.readers = 1;
        store_.reset();
        store_ = open_sqlite(options);
        return *store_;
    }
    std::unique_ptr<read_tx> begin_durable_read() override { return store_->begin_read(); }
    void kill() override {
        const auto next = dir_.path() / ("life-" + std::to_string(++lives_));
        std::filesystem::create_directories(next);
        carry_over(at_, next);
        at_ = next;
    }

  protected:
    virtual void carry_over(const std::filesystem::path& from, const std::filesystem::path& to) {
        for (const char* name : {"callsign.sqlite3", "callsign.sqlite3-wal"}) {
            if (std::filesystem::exists(from / name)) {
                std::filesystem::copy_file(from / name, to / name);
            }
        }
    }

  private:
    temp_dir dir_;
    int lives_ = 0;
    std::filesystem::path at_ = dir_.path() / "life-0";
    std::unique_ptr<store> store_;
};

// A database, whose next owner finds what was committed.
class postgres_disk final : public disk {
  public:
    store& open() override {
        store_.reset();
        store_ = open_postgres_now(schema_, clock_, {.readers = 1, .pending_window = 2});
        return *store_;
    }
    std::unique_ptr<read_tx> begin_durable_read() override { return store_->begin_read(); }
    void kill() override {}

  private:
    static inline int disks_ = 0;
    std::string schema_ = "disk_" + std::to_string(++disks_);
    virtual_clock clock_;  // stands still: the store is held
    std::unique_ptr<store> store_;
};

// Every kill is a power cut: each unsynced write is lost, torn or complete.
class unpowered_disk final : public sqlite_disk {
  public:
    unpowered_disk() { unsafe_disk::install(); }

  private:
    void carry_over(const std::filesystem::path& from, const std::filesystem::path& to) override {
        unsafe_disk::install().strike(from, to, chance_);
    }

    seeded_entropy chance_{1};
};

}  // namespace callsign::testing
