#pragma once
// A disk that loses power. As SQLite's default file system it passes everything on to the real one,
// and keeps aside what each file would hold if the power went now: what was last synced, and of the
// writes since then any part, in sectors of 512 bytes, in any order. The real files are never
// synced, so this is fast.
//
// For one thread; lives as long as the process (SQLite keeps a pointer to it).

#include "seeded_entropy.hpp"

#include <callsign/base/assert.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <sqlite3.h>
#include <string>
#include <variant>
#include <vector>

namespace callsign::testing {

class power_cut {
  public:
    // Makes it SQLite's default file system.
    static power_cut& install() {
        static power_cut instance;
        return instance;
    }

    // The power goes: writes into `to` what is left of the files in `from`.
    void strike(const std::filesystem::path& from, const std::filesystem::path& to,
                seeded_entropy& chance) {
        for (auto& [path, file] : files_) {
            const std::filesystem::path at(path);
            if (at.parent_path() != from) continue;
            const std::string left = file.after_power_cut(chance);
            std::ofstream(to / at.filename(), std::ios::binary) << left;
        }
        std::erase_if(files_, [&](const auto& f) {
            return std::filesystem::path(f.first).parent_path() == from;
        });
    }

  private:
    struct written {
        std::size_t offset;
        std::string bytes;
    };
    struct truncated {
        std::size_t size;
    };
    using change = std::variant<written, truncated>;

    struct file_state {
        std::string durable;
        std::vector<change> since;

        void sync() {
            for (const change& c : since) apply(durable, c);
            since.clear();
        }

        std::string after_power_cut(seeded_entropy& chance) {
            std::string left = durable;
            for (const change& c : since) {
                const auto* w = std::get_if<written>(&c);
                if (!w) {
                    if (chance.once_in(2)) apply(left, c);
                    continue;
                }
                // Sometimes all of it, sometimes none, sometimes torn.
                const auto fate = chance.below(3);
                for (std::size_t at = 0; at < w->bytes.size(); at += 512) {
                    if (fate == 0 || (fate == 1 && chance.once_in(2))) {
                        apply(left, written{w->offset + at, w->bytes.substr(at, 512)});
                    }
                }
            }
            return left;
        }

        static void apply(std::string& to, const change& c) {
            if (const auto* t = std::get_if<truncated>(&c)) return to.resize(t->size);
            const auto& w = std::get<written>(c);
            if (to.size() < w.offset + w.bytes.size()) to.resize(w.offset + w.bytes.size());
            std::copy(w.bytes.begin(), w.bytes.end(),
                      to.begin() + static_cast<std::ptrdiff_t>(w.offset));
        }
    };

    // What SQLite holds: ours, with the real file behind it in the same piece of memory.
    struct handle {
        sqlite3_file base;
        std::string* path;  // owned; null: not watched
    };
    static handle& of(sqlite3_file* f) { return *reinterpret_cast<handle*>(f); }
    static sqlite3_file* real(sqlite3_file* f) {
        return reinterpret_cast<sqlite3_file*>(reinterpret_cast<handle*>(f) + 1);
    }
    static file_state* watched(sqlite3_file* f) {
        auto& files = install().files_;
        const auto found = of(f).path ? files.find(*of(f).path) : files.end();
        return found == files.end() ? nullptr : &found->second;
    }

    power_cut() {
        real_ = sqlite3_vfs_find(nullptr);
        vfs_ = *real_;
        vfs_.zName = "power-cut";
        vfs_.szOsFile = static_cast<int>(sizeof(handle)) + real_->szOsFile;
        vfs_.pNext = nullptr;
        vfs_.xOpen = &open;
        fill_methods();
        CALLSIGN_ASSERT(sqlite3_vfs_register(&vfs_, 1) == SQLITE_OK);
    }

    static int open(sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out) {
        auto& self = install();
        auto& ours = *new (f) handle{};
        const int code = self.real_->xOpen(self.real_, name, real(f), flags, out);
        if (code != SQLITE_OK) return code;
        ours.base.pMethods = &self.methods_;
        if (name && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0) {
            ours.path = new std::string(name);
            if (!self.files_.contains(name)) {
                std::ifstream there(name, std::ios::binary);
                self.files_[name].durable.assign(std::istreambuf_iterator<char>(there), {});
            }
        }
        return SQLITE_OK;
    }

    static int close(sqlite3_file* f) {
        delete of(f).path;
        return real(f)->pMethods->xClose(real(f));
    }
    static int write(sqlite3_file* f, const void* bytes, int size, sqlite3_int64 offset) {
        if (file_state* s = watched(f)) {
            s->since.push_back(
                written{static_cast<std::size_t>(offset),
                        {static_cast<const char*>(bytes), static_cast<std::size_t>(size)}});
        }
        return real(f)->pMethods->xWrite(real(f), bytes, size, offset);
    }
    static int truncate(sqlite3_file* f, sqlite3_int64 size) {
        if (file_state* s = watched(f))
            s->since.push_back(truncated{static_cast<std::size_t>(size)});
        return real(f)->pMethods->xTruncate(real(f), size);
    }
    static int sync(sqlite3_file* f, int) {
        if (file_state* s = watched(f)) s->sync();
        return SQLITE_OK;
    }

    void fill_methods() {
        methods_.iVersion = 3;
        methods_.xClose = &close;
        methods_.xWrite = &write;
        methods_.xTruncate = &truncate;
        methods_.xSync = &sync;
        // The rest goes straight through.
        methods_.xRead = [](sqlite3_file* f, void* to, int size, sqlite3_int64 offset) {
            return real(f)->pMethods->xRead(real(f), to, size, offset);
        };
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
        methods_.xShmMap = [](sqlite3_file* f, int page, int size, int extend,
                              void volatile** out) {
            return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
        };
        methods_.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
            return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
        };
        methods_.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
        methods_.xShmUnmap = [](sqlite3_file* f, int remove) {
            return real(f)->pMethods->xShmUnmap(real(f), remove);
        };
        methods_.xFetch = [](sqlite3_file*, sqlite3_int64, int, void** out) {
            *out = nullptr;  // no memory maps: their writes would not be seen here
            return SQLITE_OK;
        };
        methods_.xUnfetch = [](sqlite3_file*, sqlite3_int64, void*) { return SQLITE_OK; };
    }

    sqlite3_vfs* real_ = nullptr;
    sqlite3_vfs vfs_{};
    sqlite3_io_methods methods_{};
    std::map<std::string, file_state> files_;
};

}  // namespace callsign::testing
