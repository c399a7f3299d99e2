#pragma once
// Gathers what SQLite writes to a WAL. It writes each frame in two calls, the header and the page;
// a commit of eight pages would be sixteen system calls. Here they become one, at the sync that
// makes the commit durable.
//
// Nobody misses the bytes before: other connections read a frame only when the WAL index says that
// it is there, which a commit says after its sync (`synchronous` is FULL wherever this program
// writes), and what this connection reads it writes first. A failure comes out of the call that
// writes: of SQLITE_FULL nothing took, as ever, because a commit's last frame is the last to be
// written.
//
// Not thread safe: for the connection that writes.

#include <cstddef>
#include <new>
#include <sqlite3.h>
#include <vector>

namespace callsign::sqlite {

class log_buffer {
  public:
    int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
        const auto bytes = static_cast<std::size_t>(size);
        const bool follows = offset == offset_ + static_cast<sqlite3_int64>(unwritten_.size());
        if (!unwritten_.empty() && (!follows || unwritten_.size() + bytes > bytes_max)) {
            const int code = flush(file);
            if (code != SQLITE_OK) return code;
        }
        if (bytes > bytes_max || !make_room()) {
            return file->pMethods->xWrite(file, from, size, offset);
        }
        if (unwritten_.empty()) offset_ = offset;
        const auto* const first = static_cast<const char*>(from);
        unwritten_.insert(unwritten_.end(), first, first + size);
        return SQLITE_OK;
    }

    // What could not be written is forgotten: SQLite goes back to where its log was good.
    int flush(sqlite3_file* file) {
        if (unwritten_.empty()) return SQLITE_OK;
        const int code = file->pMethods->xWrite(file, unwritten_.data(),
                                                static_cast<int>(unwritten_.size()), offset_);
        unwritten_.clear();
        return code;
    }

  private:
    // 31 frames. SQLite's own file system takes up to 0x1ffff bytes at once, and a write of one
    // more for a full disk (seekAndWriteFd() in os_unix.c).
    static constexpr std::size_t bytes_max = std::size_t{127} << 10;

    // At the first write: connections that read open the log too. False: there is no memory.
    bool make_room() noexcept {
        try {
            unwritten_.reserve(bytes_max);
        } catch (const std::bad_alloc&) {
            return false;
        }
        return true;
    }

    std::vector<char> unwritten_;
    sqlite3_int64 offset_ = 0;  // of its first byte
};

}  // namespace callsign::sqlite
