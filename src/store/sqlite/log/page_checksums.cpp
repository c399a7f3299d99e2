#include "log/page_checksums.hpp"

#include "log/log_buffer.hpp"
#include "log/log_pages.hpp"
#include "log/log_sync.hpp"

#include <algorithm>
#include <array>
#include <boost/endian/conversion.hpp>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <set>
#include <sqlite3.h>

namespace callsign::sqlite {
namespace {

constexpr int sum_bytes = 8;
constexpr int header_bytes = 100;
// Fields of the header: bytes reserved at each page's end, and the application ID. Either one shows
// that there are checksums, so that corruption of one does not hide other corruption.
constexpr int reserved_at = 20;
constexpr int application_at = 68;
constexpr char application[] = {'C', 'S', 'G', 'N'};

using page = std::array<char, page_bytes>;

bool is_header(const char* bytes) {
    return std::memcmp(bytes, "SQLite format 3", 16) == 0;
}

bool says_sums(const char* header) {
    return is_header(header) &&
           (header[reserved_at] == sum_bytes ||
            std::memcmp(header + application_at, application, sizeof application) == 0);
}

}  // namespace

// Fletcher's checksum over 32-bit words. It includes the page number, so that it fits no other
// place.
std::uint64_t page_sum(const char* bytes, std::int64_t offset) {
    auto low = static_cast<std::uint32_t>(offset / page_bytes + 1);
    std::uint32_t high = 0x9E3779B9;
    for (int at = 0; at < page_bytes - sum_bytes; at += 8) {
        std::uint32_t words[2];
        std::memcpy(words, bytes + at, sizeof words);
        low += words[0] + high;
        high += words[1] + low;
    }
    return std::uint64_t{high} << 32 | low;
}

namespace {

// Clears the gap between a B-tree page's directory and its cells: SQLite leaves rows there that it
// moved to another page, although secure_delete is on. A B-tree page begins with its type; an
// overflow page or a page of the freelist begins with the number of another page, which can look
// like a type only in a file with that many pages: the gap is not cleared then. The content of a
// free page does not matter.
void clear_gap(page& bytes, std::int64_t pages_in_file) {
    constexpr std::array<unsigned char, 4> interior_and_leaf_types{2, 5, 10, 13};
    const auto* const header = reinterpret_cast<const unsigned char*>(bytes.data());
    const unsigned char type = header[0];
    if (std::ranges::find(interior_and_leaf_types, type) == interior_and_leaf_types.end()) return;
    if (type <= pages_in_file >> 24) return;
    const std::size_t directory = type >= 10 ? 8 : 12;
    const std::size_t from = directory + std::size_t{2} * boost::endian::load_big_u16(header + 3);
    const std::size_t to = boost::endian::load_big_u16(header + 5);
    if (from < to && to <= page_bytes - sum_bytes) {
        std::memset(bytes.data() + from, 0, to - from);
    }
}

struct wal {
    log_pages pages;
    log_buffer buffer;
    std::shared_ptr<log_sync> sync = std::make_shared<log_sync>();
};

// The file that SQLite holds. Wraps a file of the default file system.
struct summed_file {
    sqlite3_file base;
    sqlite3_file* real;
    bool is_database;
    bool summed;               // as far as the header was read
    std::int64_t pages;        // of a database; at least its pages
    std::unique_ptr<wal> log;  // of a WAL
    std::atomic<int> sync_failure{SQLITE_OK};
    std::set<sqlite3_int64> unread;  // offsets of pages with a wrong checksum
};

// Limit of `unread`. Later reads find the other corrupt pages.
constexpr std::size_t unread_max = 64;

summed_file& of(sqlite3_file* f) {
    return *reinterpret_cast<summed_file*>(f);
}

bool is_page(const summed_file& f, int size, sqlite3_int64 offset) {
    return f.is_database && size == page_bytes && offset % page_bytes == 0;
}

sqlite3_int64 page_of(sqlite3_int64 offset) {
    return offset - offset % page_bytes;
}

// SQLite 3.45 and later copies parts of overflow pages past its cache. Short reads of the first
// page are something else: SQLite does not know yet whether that page exists.
bool is_part(const summed_file& f, int size, sqlite3_int64 offset) {
    return f.summed && f.is_database && size < page_bytes && offset >= page_bytes &&
           page_of(offset) == page_of(offset + size - 1);
}

int flush(summed_file& self) {
    return self.log ? self.log->buffer.flush(self.real) : SQLITE_OK;
}

int close(sqlite3_file* f) {
    summed_file& self = of(f);
    const int flushed = flush(self);
    if (self.log) self.log->sync->belongs_to(nullptr);
    const int code = self.real->pMethods->xClose(self.real);
    sqlite3_free(self.real);
    self.~summed_file();
    return flushed != SQLITE_OK ? flushed : code;
}

void note_size(summed_file& self, std::int64_t bytes) {
    self.pages = std::max(self.pages, bytes / page_bytes);
}

int read_through(summed_file& self, void* to, int size, sqlite3_int64 offset) {
    if (is_part(self, size, offset)) {
        page whole;
        const int code = read_through(self, whole.data(), page_bytes, page_of(offset));
        if (code == SQLITE_OK) {
            std::memcpy(to, whole.data() + offset % page_bytes, static_cast<std::size_t>(size));
        }
        return code;
    }
    if (const int code = flush(self); code != SQLITE_OK) return code;
    const int code = self.real->pMethods->xRead(self.real, to, size, offset);
    const auto* bytes = static_cast<const char*>(to);
    // EIO, which SQLite would take for corruption. Another read may succeed.
    if (code == SQLITE_IOERR_CORRUPTFS) return SQLITE_IOERR_READ;
    // SQLite reads missing bytes as zeros, but pages that it reads were written, and whole.
    if (code == SQLITE_IOERR_SHORT_READ && size == page_bytes) {
        const bool is_another = self.is_database && offset == 0 && !is_header(bytes);
        return is_another ? SQLITE_NOTADB : SQLITE_IOERR_DATA;
    }
    if (code != SQLITE_OK || !self.is_database) return code;
    if (offset == 0 && size >= header_bytes) self.summed = self.summed || says_sums(bytes);
    if (!self.summed || !is_page(self, size, offset)) return SQLITE_OK;
    std::uint64_t written = 0;
    std::memcpy(&written, bytes + page_bytes - sum_bytes, sizeof written);
    return written == page_sum(bytes, offset) ? SQLITE_OK : SQLITE_IOERR_DATA;
}

void note_unread(summed_file& self, sqlite3_int64 offset) noexcept {
    try {
        if (self.unread.size() < unread_max) self.unread.insert(offset);
    } catch (const std::bad_alloc&) {
        // A later read finds the page again.
    }
}

int read(sqlite3_file* f, void* to, int size, sqlite3_int64 offset) {
    summed_file& self = of(f);
    const int code = read_through(self, to, size, offset);
    if (code == SQLITE_IOERR_DATA && self.is_database) note_unread(self, page_of(offset));
    return code;
}

int write(sqlite3_file* f, const void* from, int size, sqlite3_int64 offset) {
    summed_file& self = of(f);
    const auto* bytes = static_cast<const char*>(from);
    if (self.is_database && offset == 0 && size >= header_bytes) self.summed = says_sums(bytes);
    self.unread.erase(offset);
    if (self.log) {
        self.log->pages.wrote(from, size, offset);
        self.log->sync->note_write(offset);
        return self.log->buffer.write(self.real, from, size, offset);
    }
    if (!self.summed || !is_page(self, size, offset)) {
        return self.real->pMethods->xWrite(self.real, from, size, offset);
    }
    note_size(self, offset + size);
    page with_sum;
    std::memcpy(with_sum.data(), bytes, page_bytes - sum_bytes);
    if (offset > 0) clear_gap(with_sum, self.pages);  // page 1 begins with the file's header
    const std::uint64_t sum = page_sum(with_sum.data(), offset);
    std::memcpy(with_sum.data() + page_bytes - sum_bytes, &sum, sizeof sum);
    return self.real->pMethods->xWrite(self.real, with_sum.data(), size, offset);
}

int sync(sqlite3_file* f, int flags) {
    summed_file& self = of(f);
    if (self.log) {
        if (const int code = flush(self); code != SQLITE_OK) return code;
        return self.log->sync->asked(flags);
    }
    if (const int failed = self.sync_failure; failed != SQLITE_OK) return failed;
    const int code = self.real->pMethods->xSync(self.real, flags);
    if (code != SQLITE_OK) self.sync_failure = code;
    return code;
}

// Forwards a call to the wrapped file, after writing the buffered frames.
template <auto method, class... Args>
int pass(sqlite3_file* f, Args... args) {
    summed_file& self = of(f);
    if (const int code = flush(self); code != SQLITE_OK) return code;
    return (self.real->pMethods->*method)(self.real, args...);
}

int file_size(sqlite3_file* f, sqlite3_int64* bytes) {
    const int code = pass<&sqlite3_io_methods::xFileSize, sqlite3_int64*>(f, bytes);
    if (code == SQLITE_OK) note_size(of(f), *bytes);
    return code;
}

// SQLite announces the file's size before it writes.
int file_control(sqlite3_file* f, int operation, void* argument) {
    if (operation == SQLITE_FCNTL_SIZE_HINT) {
        note_size(of(f), *static_cast<const sqlite3_int64*>(argument));
    }
    return pass<&sqlite3_io_methods::xFileControl, int, void*>(f, operation, argument);
}

constexpr sqlite3_io_methods make_methods() {
    using methods = sqlite3_io_methods;
    methods m{};
    m.iVersion = 3;
    m.xClose = &close;
    m.xRead = &read;
    m.xWrite = &write;
    m.xTruncate = &pass<&methods::xTruncate, sqlite3_int64>;
    m.xSync = &sync;
    m.xFileSize = &file_size;
    m.xLock = &pass<&methods::xLock, int>;
    m.xUnlock = &pass<&methods::xUnlock, int>;
    m.xCheckReservedLock = &pass<&methods::xCheckReservedLock, int*>;
    m.xFileControl = &file_control;
    m.xSectorSize = &pass<&methods::xSectorSize>;
    m.xDeviceCharacteristics = &pass<&methods::xDeviceCharacteristics>;
    m.xShmMap = &pass<&methods::xShmMap, int, int, int, void volatile**>;
    m.xShmLock = &pass<&methods::xShmLock, int, int, int>;
    m.xShmBarrier = [](sqlite3_file* f) { of(f).real->pMethods->xShmBarrier(of(f).real); };
    m.xShmUnmap = &pass<&methods::xShmUnmap, int>;
    // No memory maps: reads through them would bypass the checksums.
    m.xFetch = [](sqlite3_file*, sqlite3_int64, int, void** out) {
        *out = nullptr;
        return SQLITE_OK;
    };
    m.xUnfetch = [](sqlite3_file*, sqlite3_int64, void*) { return SQLITE_OK; };
    return m;
}

const sqlite3_io_methods file_methods = make_methods();

// Looked up at each call: tests replace it by one that fails.
sqlite3_vfs* real_vfs() {
    return sqlite3_vfs_find(nullptr);
}

// Without memory the WAL is a file like others: each sync is made when SQLite requests it.
void open_log(summed_file& self) {
    try {
        self.log = std::make_unique<wal>();
        self.log->sync->belongs_to(self.real);
    } catch (const std::bad_alloc&) {
        self.log.reset();
    }
}

int open(sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out) {
    summed_file& self = *new (f) summed_file{};
    sqlite3_vfs* const vfs = real_vfs();
    auto* const real = static_cast<sqlite3_file*>(sqlite3_malloc(vfs->szOsFile));
    if (!real) return SQLITE_NOMEM;
    std::memset(real, 0, static_cast<std::size_t>(vfs->szOsFile));
    const int code = vfs->xOpen(vfs, name, real, flags, out);
    if (code != SQLITE_OK) {
        if (real->pMethods) real->pMethods->xClose(real);
        sqlite3_free(real);
        return code;
    }
    self.base.pMethods = &file_methods;
    self.real = real;
    self.is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    if ((flags & SQLITE_OPEN_WAL) != 0) open_log(self);
    return SQLITE_OK;
}

sqlite3_vfs make_vfs() {
    sqlite3_vfs vfs = *real_vfs();
    vfs.iVersion = 2;
    vfs.szOsFile = sizeof(summed_file);
    vfs.pNext = nullptr;
    vfs.zName = "callsign";
    vfs.pAppData = nullptr;
    vfs.xOpen = &open;
    vfs.xDelete = [](sqlite3_vfs*, const char* name, int sync) {
        return real_vfs()->xDelete(real_vfs(), name, sync);
    };
    vfs.xAccess = [](sqlite3_vfs*, const char* name, int flags, int* out) {
        return real_vfs()->xAccess(real_vfs(), name, flags, out);
    };
    vfs.xFullPathname = [](sqlite3_vfs*, const char* name, int size, char* out) {
        return real_vfs()->xFullPathname(real_vfs(), name, size, out);
    };
    vfs.xRandomness = [](sqlite3_vfs*, int size, char* out) {
        return real_vfs()->xRandomness(real_vfs(), size, out);
    };
    vfs.xSleep = [](sqlite3_vfs*, int us) { return real_vfs()->xSleep(real_vfs(), us); };
    vfs.xCurrentTime = [](sqlite3_vfs*, double* out) {
        return real_vfs()->xCurrentTime(real_vfs(), out);
    };
    vfs.xCurrentTimeInt64 = [](sqlite3_vfs*, sqlite3_int64* out) {
        return real_vfs()->xCurrentTimeInt64(real_vfs(), out);
    };
    vfs.xGetLastError = [](sqlite3_vfs*, int size, char* out) {
        return real_vfs()->xGetLastError(real_vfs(), size, out);
    };
    // No extensions are loaded.
    vfs.xDlOpen = nullptr;
    vfs.xDlError = nullptr;
    vfs.xDlSym = nullptr;
    vfs.xDlClose = nullptr;
    return vfs;
}

}  // namespace

const char* summed_pages() {
    static sqlite3_vfs* const registered = [] {
        sqlite3_initialize();
        static sqlite3_vfs vfs = make_vfs();
        sqlite3_vfs_register(&vfs, 0);
        return &vfs;
    }();
    return registered->zName;
}

void make_room_for_sums(connection& db) {
    int bytes = sum_bytes;
    sqlite3_file_control(db.database().getHandle(), "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

void mark_summed(connection& db) {
    std::uint32_t number = 0;  // big-endian in the file
    for (const char c : application) number = number << 8 | static_cast<unsigned char>(c);
    db.execute(("PRAGMA application_id = " + std::to_string(number)).c_str());
}

namespace {

// Returns null if there is none yet.
wal* log_of(connection& db) {
    sqlite3_file* log = nullptr;
    sqlite3_file_control(db.database().getHandle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    return log && log->pMethods == &file_methods ? of(log).log.get() : nullptr;
}

}  // namespace

std::int64_t pages_to_move(connection& db) {
    const wal* const log = log_of(db);
    return log ? log->pages.count() : 0;
}

void forget_pages_to_move(connection& db) {
    if (wal* const log = log_of(db)) log->pages.forget();
}

std::shared_ptr<log_sync> log_sync_of(connection& db) {
    wal* const log = log_of(db);
    return log ? log->sync : nullptr;
}

sqlite3_file& database_file(connection& db) {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(db.database().getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return *file;
}

const std::atomic<int>& sync_failure(connection& db) {
    return of(&database_file(db)).sync_failure;
}

bool has_failed_sync(connection& db) {
    const auto log = log_sync_of(db);
    return sync_failure(db) != SQLITE_OK || (log && log->has_failed());
}

bool reads_well(connection& db) {
    summed_file& self = of(&database_file(db));
    page bytes;
    std::erase_if(self.unread, [&](sqlite3_int64 offset) {
        sqlite3_int64 end = 0;
        const bool is_there =
            self.real->pMethods->xFileSize(self.real, &end) != SQLITE_OK || offset < end;
        return !is_there || read_through(self, bytes.data(), page_bytes, offset) == SQLITE_OK;
    });
    return self.unread.empty();
}

bool has_sums(const std::filesystem::path& path) {
    char header[header_bytes] = {};
    std::ifstream(path, std::ios::binary).read(header, sizeof header);
    return says_sums(header);
}

}  // namespace callsign::sqlite
