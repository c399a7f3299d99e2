#pragma once
// A simulated faulty disk. Like SQLite's default file system it forwards all calls to the real one;
// it numbers the calls, and at an armed one injects a fault: a read or a write fails, a read is
// short, the disk is full, a sync fails, the power fails. Allocations by SQLite can fail too.
//
// unsynced_file.hpp defines the files after a power failure. Data that a sync could not write can
// still be read, but no later sync writes it: as with the kernel, it must be written again. The
// real files are never synced, so this is fast.
//
// Thread-safe; lives as long as the process (SQLite holds a pointer to it).

#include "seeded_entropy.hpp"
#include "unsynced_file.hpp"

#include <callsign/base/assert.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <sqlite3.h>
#include <string>
#include <vector>

namespace callsign::testing {

enum class disk_fault {
    read_fails,
    read_is_short,
    write_fails,
    disk_is_full,  // existing data can be overwritten; files cannot grow
    sync_fails,
    database_sync_fails,  // not of a WAL
    memory_is_out,
    power_goes,  // at a write or a sync
};

class unsafe_disk {
  public:
    // Makes it SQLite's default file system.
    static unsafe_disk& install() {
        static unsafe_disk instance;
        return instance;
    }

    // Injects the fault at the n-th call from now (1 is the next) that it can apply to, and at
    // `lasts` of these calls in all.
    void arm(disk_fault what, std::int64_t nth, std::int64_t lasts = 1, std::uint64_t seed = 1) {
        const auto held = hold();
        armed_ = what;
        first_ = nth;
        last_ = nth > INT64_MAX - lasts ? INT64_MAX : nth + lasts - 1;
        seen_ = 0;
        chance_ = seeded_entropy(seed);
    }
    // Number of these calls since then.
    std::int64_t seen() const {
        const auto held = hold();
        return seen_;
    }
    bool has_struck() const {
        const auto held = hold();
        return seen_ >= first_;
    }
    void heal() {
        const auto held = hold();
        armed_.reset();
    }
    // Syncs of databases and of their WALs, by this thread.
    std::int64_t database_syncs() const { return database_syncs_; }
    std::int64_t log_syncs() const { return log_syncs_; }
    // Ignored calls are forwarded and not counted.
    void ignore_calls(bool from_now_on) {
        const auto held = hold();
        ignores_ = from_now_on;
    }
    std::optional<disk_fault> armed_with() const {
        const auto held = hold();
        return armed_;
    }

    // The power has failed: this process can write nothing more.
    bool is_off() const {
        const auto held = hold();
        return left_.has_value();
    }

    // Cuts the power: writes the remains of the files in `from` to `to`.
    void strike(const std::filesystem::path& from, const std::filesystem::path& to,
                seeded_entropy& chance) {
        const auto held = hold();
        if (!left_) cut(chance);
        for (const auto& [path, bytes] : *left_) {
            const std::filesystem::path at(path);
            if (at.parent_path() != from) continue;
            std::ofstream(to / at.filename(), std::ios::binary) << bytes;
        }
        left_.reset();
        forget(from);
    }
    void forget(const std::filesystem::path& dir) {
        const auto held = hold();
        std::erase_if(files_, [&](const auto& f) {
            return std::filesystem::path(f.first).parent_path() == dir;
        });
    }

  private:
    using lock = std::unique_lock<std::recursive_mutex>;
    [[nodiscard]] lock hold() const { return lock(mutex_); }

    // The functions below require the lock, except those that SQLite calls.

    void cut(seeded_entropy& chance) {
        left_.emplace();
        for (auto& [path, file] : files_) left_->emplace(path, file.after_power_cut(chance));
    }

    bool strikes(disk_fault here) {
        if (armed_ != here || ignores_) return false;
        ++seen_;
        return seen_ >= first_ && seen_ <= last_;
    }
    // Injects a fault into a call that changes a file. Returns SQLite's error code; 0: no fault.
    int befalls_change(int code_of_failure, disk_fault failure) {
        if (left_) return code_of_failure;
        if (strikes(disk_fault::power_goes)) {
            cut(chance_);
            return code_of_failure;
        }
        return strikes(failure) ? code_of_failure : SQLITE_OK;
    }

    // SQLite's file handle: this one, followed in memory by the real one.
    struct handle {
        sqlite3_file base;
        std::string* path;  // owned; null: not simulated
    };
    static handle& of(sqlite3_file* f) { return *reinterpret_cast<handle*>(f); }
    static sqlite3_file* real(sqlite3_file* f) {
        return reinterpret_cast<sqlite3_file*>(reinterpret_cast<handle*>(f) + 1);
    }
    static unsynced_file* watched(sqlite3_file* f) {
        auto& files = install().files_;
        const auto found = of(f).path ? files.find(*of(f).path) : files.end();
        return found == files.end() ? nullptr : &found->second;
    }

    unsafe_disk() {
        CALLSIGN_ASSERT(memory_is_ours);
        real_ = sqlite3_vfs_find(nullptr);
        vfs_ = *real_;
        vfs_.zName = "unsafe";
        vfs_.szOsFile = static_cast<int>(sizeof(handle)) + real_->szOsFile;
        vfs_.pNext = nullptr;
        vfs_.xOpen = &open;
        vfs_.xDelete = [](sqlite3_vfs*, const char* name, int sync) {
            const auto held = install().hold();
            install().files_.erase(name);
            return install().real_->xDelete(install().real_, name, sync);
        };
        fill_methods();
        CALLSIGN_ASSERT(sqlite3_vfs_register(&vfs_, 1) == SQLITE_OK);
        installed_ = this;
    }

    static int open(sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out) {
        auto& self = install();
        auto& ours = *new (f) handle{};
        const int code = self.real_->xOpen(self.real_, name, real(f), flags, out);
        if (code != SQLITE_OK) return code;
        ours.base.pMethods = &self.methods_;
        if (name &&
            (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0) {
            const auto held = self.hold();
            ours.path = new std::string(name);
            if (!self.files_.contains(name)) {
                std::ifstream there(name, std::ios::binary);
                const std::string bytes(std::istreambuf_iterator<char>(there), {});
                self.files_.emplace(name, unsynced_file(bytes));
            }
        }
        return SQLITE_OK;
    }

    static int close(sqlite3_file* f) {
        delete of(f).path;
        return real(f)->pMethods->xClose(real(f));
    }
    static int read(sqlite3_file* f, void* to, int size, sqlite3_int64 offset) {
        const auto held = install().hold();
        if (install().strikes(disk_fault::read_fails)) return SQLITE_IOERR_CORRUPTFS;  // EIO
        if (install().strikes(disk_fault::read_is_short)) {
            std::memset(to, 0, static_cast<std::size_t>(size));
            const int code = real(f)->pMethods->xRead(real(f), to, size / 2, offset);
            return code == SQLITE_OK ? SQLITE_IOERR_SHORT_READ : code;
        }
        return real(f)->pMethods->xRead(real(f), to, size, offset);
    }
    static int write(sqlite3_file* f, const void* bytes, int size, sqlite3_int64 offset) {
        const auto held = install().hold();
        if (const int code =
                install().befalls_change(SQLITE_IOERR_WRITE, disk_fault::write_fails)) {
            return code;
        }
        sqlite3_int64 there = 0;
        real(f)->pMethods->xFileSize(real(f), &there);
        if (offset + size > there && install().strikes(disk_fault::disk_is_full)) {
            return SQLITE_FULL;
        }
        if (unsynced_file* s = watched(f)) {
            s->write(static_cast<std::size_t>(offset),
                     {static_cast<const char*>(bytes), static_cast<std::size_t>(size)});
        }
        return real(f)->pMethods->xWrite(real(f), bytes, size, offset);
    }
    static int truncate(sqlite3_file* f, sqlite3_int64 size) {
        const auto held = install().hold();
        if (const int code =
                install().befalls_change(SQLITE_IOERR_TRUNCATE, disk_fault::write_fails)) {
            return code;
        }
        if (unsynced_file* s = watched(f)) s->truncate(static_cast<std::size_t>(size));
        return real(f)->pMethods->xTruncate(real(f), size);
    }
    static int sync(sqlite3_file* f, int) {
        const auto held = install().hold();
        unsynced_file* const s = watched(f);
        const bool is_log = of(f).path && of(f).path->ends_with("-wal");
        int code = install().befalls_change(SQLITE_IOERR_FSYNC, disk_fault::sync_fails);
        if (!is_log && install().strikes(disk_fault::database_sync_fails)) {
            code = SQLITE_IOERR_FSYNC;
        }
        if (code != SQLITE_OK) {
            if (s && !install().left_) s->fail_to_sync(install().chance_);
            return code;
        }
        if (s) s->sync();
        if (of(f).path) ++(is_log ? log_syncs_ : database_syncs_);
        return SQLITE_OK;
    }
    static int map_shared(sqlite3_file* f, int page, int size, int extend, void volatile** out) {
        {
            const auto held = install().hold();
            if (extend && install().strikes(disk_fault::disk_is_full)) return SQLITE_IOERR_SHMSIZE;
        }
        return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
    }

    // ---- memory ----

    // Requires: SQLite has not been used yet.
    static bool stand_before_malloc() {
        static sqlite3_mem_methods real;
        if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real) != SQLITE_OK) return false;
        sqlite3_mem_methods ours = real;
        ours.xMalloc = [](int size) { return asked_for_memory() ? nullptr : real.xMalloc(size); };
        ours.xRealloc = [](void* from, int size) {
            return asked_for_memory() ? nullptr : real.xRealloc(from, size);
        };
        return sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) == SQLITE_OK;
    }
    static bool asked_for_memory() {
        if (!installed_) return false;
        const auto held = installed_->hold();
        return installed_->strikes(disk_fault::memory_is_out);
    }
    static inline const bool memory_is_ours = stand_before_malloc();
    static inline unsafe_disk* installed_ = nullptr;

    void fill_methods() {
        methods_.iVersion = 3;
        methods_.xClose = &close;
        methods_.xRead = &read;
        methods_.xWrite = &write;
        methods_.xShmMap = &map_shared;
        methods_.xTruncate = &truncate;
        methods_.xSync = &sync;
        // Forwarded unchanged.
        methods_.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
            return real(f)->pMethods->xFileSize(real(f), size);
        };
        methods_.xLock = [](sqlite3_file* f, int level) {
            return real(f)->pMethods->xLock(real(f), level);
        };
        methods_.xUnlock = [](sqlite3_file* f, int level) {
            return real(f)->pMethods->xUnlock(real(f), level);
        };
        methods_.xCheckReservedLock = [](sqlite3_file* f, int* out) {
            return real(f)->pMethods->xCheckReservedLock(real(f), out);
        };
        methods_.xFileControl = [](sqlite3_file* f, int op, void* arg) {
            return real(f)->pMethods->xFileControl(real(f), op, arg);
        };
        methods_.xSectorSize = [](sqlite3_file* f) {
            return real(f)->pMethods->xSectorSize(real(f));
        };
        methods_.xDeviceCharacteristics = [](sqlite3_file* f) {
            return real(f)->pMethods->xDeviceCharacteristics(real(f));
        };
        methods_.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
            return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
        };
        methods_.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
        methods_.xShmUnmap = [](sqlite3_file* f, int remove) {
            return real(f)->pMethods->xShmUnmap(real(f), remove);
        };
        methods_.xFetch = [](sqlite3_file*, sqlite3_int64, int, void** out) {
            *out = nullptr;  // no memory maps: their writes would not be seen
            return SQLITE_OK;
        };
        methods_.xUnfetch = [](sqlite3_file*, sqlite3_int64, void*) { return SQLITE_OK; };
    }

    sqlite3_vfs* real_ = nullptr;
    sqlite3_vfs vfs_{};
    sqlite3_io_methods methods_{};
    mutable std::recursive_mutex mutex_;
    std::map<std::string, unsynced_file> files_;

    std::optional<disk_fault> armed_;
    std::int64_t first_ = 0;
    std::int64_t last_ = 0;
    std::int64_t seen_ = 0;
    bool ignores_ = false;
    static inline thread_local std::int64_t database_syncs_ = 0;
    static inline thread_local std::int64_t log_syncs_ = 0;
    seeded_entropy chance_{1};
    std::optional<std::map<std::string, std::string>> left_;  // at the power failure
};

}  // namespace callsign::testing
