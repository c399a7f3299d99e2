#include "log/log_rewrite.hpp"

#include "connection.hpp"
#include "durable_files.hpp"
#include "log/log_pages.hpp"

#include <callsign/ports/store.hpp>

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <sqlite3.h>
#include <string>
#include <vector>

namespace callsign::sqlite {
namespace {

constexpr std::uint32_t magic = 0x377F0682;  // or one more, by the checksums' byte order
constexpr std::size_t salt_bytes = 8;
constexpr std::size_t salt_at = 16;       // in the WAL's header
constexpr std::size_t frame_salt_at = 8;  // in a frame's header
// SQLite's file system writes at most this many bytes at once.
constexpr std::int64_t write_bytes_max = (128 << 10) - 1;

std::uint32_t number_at(const char* bytes) {
    return boost::endian::load_big_u32(reinterpret_cast<const unsigned char*>(bytes));
}

// A file as SQLite's default file system opens it, without page checksums.
class raw_file {
  public:
    raw_file(const std::filesystem::path& path, int kind)
        : vfs_(*sqlite3_vfs_find(nullptr)),
          path_(path.string()),
          name_(sqlite3_create_filename(path_.c_str(), "", "", 0, nullptr), &sqlite3_free_filename),
          memory_(static_cast<std::size_t>(vfs_.szOsFile)) {
        if (!name_) fail(SQLITE_NOMEM);
        int flags = 0;
        const int code =
            vfs_.xOpen(&vfs_, name_.get(), file(), kind | SQLITE_OPEN_READWRITE, &flags);
        if (code != SQLITE_OK) {
            close();
            fail(code);
        }
    }
    raw_file(const raw_file&) = delete;
    raw_file& operator=(const raw_file&) = delete;
    ~raw_file() { close(); }

    std::int64_t size() {
        sqlite3_int64 bytes = 0;
        expect(file()->pMethods->xFileSize(file(), &bytes));
        return bytes;
    }
    void read(std::span<char> to, std::int64_t offset) {
        expect(file()->pMethods->xRead(file(), to.data(), static_cast<int>(to.size()), offset));
    }
    void write(std::span<const char> from, std::int64_t offset) {
        expect(
            file()->pMethods->xWrite(file(), from.data(), static_cast<int>(from.size()), offset));
    }
    void sync() { expect(file()->pMethods->xSync(file(), SQLITE_SYNC_FULL)); }

  private:
    sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }
    void close() {
        if (file()->pMethods) file()->pMethods->xClose(file());
    }
    void expect(int code) const {
        if (code != SQLITE_OK) fail(code);
    }
    [[noreturn]] void fail(int code) const {
        throw store_failure(meaning_of(code),
                            "cannot make " + path_ + " durable: " + sqlite3_errstr(code));
    }

    sqlite3_vfs& vfs_;
    std::string path_;
    std::unique_ptr<const char, void (*)(const char*)> name_;
    std::vector<char> memory_;
};

// Rewrites the frames that have the WAL's current salt. Returns the pages that they name.
std::set<std::uint32_t> rewrite_frames(raw_file& log, std::span<const char> header,
                                       std::int64_t frame_bytes) {
    std::set<std::uint32_t> pages;
    const std::int64_t frames_at_once = write_bytes_max / frame_bytes;
    std::vector<char> frames(static_cast<std::size_t>(frame_bytes * frames_at_once));
    const std::int64_t end = log.size();
    for (std::int64_t at = log_header_bytes; at + frame_bytes <= end;) {
        const std::int64_t whole = std::min(frames_at_once, (end - at) / frame_bytes);
        const auto some = std::span(frames).first(static_cast<std::size_t>(whole * frame_bytes));
        log.read(some, at);
        std::size_t valid = 0;
        while (valid < some.size() &&
               std::memcmp(&some[valid + frame_salt_at], &header[salt_at], salt_bytes) == 0) {
            pages.insert(number_at(&some[valid]));
            valid += static_cast<std::size_t>(frame_bytes);
        }
        if (valid == 0) break;
        log.write(some.first(valid), at);
        at += static_cast<std::int64_t>(valid);
        if (valid < some.size()) break;
    }
    return pages;
}

void rewrite_pages(raw_file& database, const std::set<std::uint32_t>& pages,
                   std::int64_t page_bytes) {
    const std::int64_t end = database.size();
    std::vector<char> page(static_cast<std::size_t>(page_bytes));
    for (const std::uint32_t number : pages) {
        const std::int64_t at = (std::int64_t{number} - 1) * page_bytes;
        if (number == 0 || at + page_bytes > end) continue;  // not checkpointed yet
        database.read(page, at);
        database.write(page, at);
    }
}

}  // namespace

void rewrite_log(const std::filesystem::path& file) {
    const std::filesystem::path log_path = file.string() + "-wal";
    std::error_code none;
    const auto log_bytes = std::filesystem::file_size(log_path, none);
    if (none || log_bytes < static_cast<std::uintmax_t>(log_header_bytes)) return;
    if (!std::filesystem::exists(file, none)) return;  // SQLite removes a WAL without a database

    raw_file database(file, SQLITE_OPEN_MAIN_DB);
    raw_file log(log_path, SQLITE_OPEN_WAL);
    std::vector<char> header(log_header_bytes);
    log.read(header, 0);
    const std::uint32_t page_bytes = number_at(&header[8]);
    const bool is_log = (number_at(header.data()) & ~1U) == magic && page_bytes >= 512 &&
                        page_bytes <= 65536 && (page_bytes & (page_bytes - 1)) == 0;
    if (!is_log) return;  // SQLite ignores it too
    // The header first: after another header the frames would be those of an earlier WAL.
    log.write(header, 0);
    log.sync();
    const auto pages = rewrite_frames(log, header, frame_header_bytes + page_bytes);
    log.sync();
    rewrite_pages(database, pages, page_bytes);
    database.sync();
    sync_directory(file.parent_path());
}

}  // namespace callsign::sqlite
