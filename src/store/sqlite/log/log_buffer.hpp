#pragma once
// Buffers SQLite's writes to a WAL. SQLite writes each frame in two calls, header and page: sixteen
// system calls for a commit of eight pages. The buffer writes them at once, at the sync that makes
// the commit durable.
//
// No reader misses the buffered bytes: other connections read a frame only once the WAL index lists
// it, which a commit does after its sync (`synchronous` is FULL wherever this program writes), and
// this connection writes the buffer before it reads. A failure is returned by the call that writes.
// After SQLITE_FULL nothing is committed, as without a buffer: a commit's last frame is written
// last.
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

    // Discards what could not be written: SQLite returns to the last valid end of its WAL.
    int flush(sqlite3_file* file) {
        if (unwritten_.empty()) return SQLITE_OK;
        const int code = file->pMethods->xWrite(file, unwritten_.data(),
                                                static_cast<int>(unwritten_.size()), offset_);
        unwritten_.clear();
        return code;
    }

  private:
    // 31 frames. SQLite's file system writes up to 0x1ffff bytes at once, and takes a write of one
    // more for a full disk (seekAndWriteFd() in os_unix.c).
    static constexpr std::size_t bytes_max = std::size_t{127} << 10;

    // Called at the first write, because connections that read open the WAL too. Returns false if
    // there is no memory.
    bool make_room() noexcept {
        try {
            unwritten_.reserve(bytes_max);
        } catch (const std::bad_alloc&) {
            return false;
        }
        return true;
    }

    std::vector<char> unwritten_;
    sqlite3_int64 offset_ = 0;  // of the first buffered byte
};

}  // namespace callsign::sqlite
