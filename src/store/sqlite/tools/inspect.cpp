// Inspects a store from outside. SQLite creates files beside one in WAL mode, even to read it,
// unless told otherwise: without a WAL the file is opened as immutable, with a WAL its shared
// memory is opened read-only.

#include "reads.hpp"
#include "statements.hpp"
#include "tables/migrations.hpp"

#include <callsign/base/describe_file_error.hpp>
#include <callsign/store/sqlite.hpp>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace callsign {
namespace {

namespace fs = std::filesystem;
using sqlite::connection;

constexpr std::size_t look_cache_bytes = std::size_t{1} << 20;

// Escapes a path for a URI (sqlite.org/uri.html).
std::string encoded(const std::string& path) {
    std::string out;
    for (const char c : path) {
        if (c == '%') {
            out += "%25";
        } else if (c == '?') {
            out += "%3f";
        } else if (c == '#') {
            out += "%23";
        } else {
            out += c;
        }
    }
    return out;
}

bool has_log(const fs::path& file) {
    std::error_code missing;
    const auto bytes = fs::file_size(file.string() + "-wal", missing);
    return !missing && bytes > 0;
}

std::string uri_of(const fs::path& file, bool is_held) {
    // The process that holds it open has created all files.
    const char* const how = is_held         ? "?mode=ro"
                            : has_log(file) ? "?mode=ro&readonly_shm=1"
                                            : "?mode=ro&immutable=1";
    return "file:" + encoded(fs::absolute(file).string()) + how;
}

// Reads the first 100 bytes of the file (sqlite.org/fileformat2.html). They lack what is in a WAL.
void read_header(const fs::path& file, store_state& found) {
    constexpr std::string_view magic("SQLite format 3\0", 16);
    constexpr std::size_t journal_at = 18;  // write version; 2: WAL
    constexpr std::size_t user_version_at = 60;
    std::array<char, 100> header{};
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t size = fd < 0 ? -1 : ::read(fd, header.data(), header.size());
    const int error = errno;
    if (fd >= 0) ::close(fd);
    found.exists = fd >= 0 || error != ENOENT;
    if (size < 0) {
        if (found.exists) found.unreadable = describe_file_error(file, error);
        return;
    }
    found.is_database = static_cast<std::size_t>(size) == header.size() &&
                        std::string_view(header.data(), magic.size()) == magic;
    if (!found.is_database) return;
    found.is_wal = header[journal_at] == 2;
    for (std::size_t i = 0; i < 4; ++i) {
        found.schema = found.schema << 8 | static_cast<unsigned char>(header[user_version_at + i]);
    }
}

// Finds a flock() in the kernel's list: "1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF".
std::int64_t holder_of(const fs::path& lock) {
    struct stat status {};
    if (::stat(lock.c_str(), &status) != 0) return 0;
    const std::string inode = ":" + std::to_string(status.st_ino);
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        std::istringstream words(line);
        std::string number, kind, advisory, how, place;
        std::int64_t process = 0;
        words >> number >> kind >> advisory >> how >> process >> place;
        if (kind == "FLOCK" && how == "WRITE" && place.ends_with(inode)) return process;
    }
    return 0;
}

using rows_looker = std::function<store_sight(read_tx&)>;

void read_rows(connection& db, const rows_looker& look_at_rows, store_state& found) {
    db.execute("BEGIN");  // one snapshot
    found.is_own = db.integer_of(sql::look_own_tables) == 5;
    if (!found.is_own) {
        found.unread = "it has other tables";
        return;
    }
    // The WAL may be newer than the file's header.
    found.schema = db.integer_of("PRAGMA user_version");
    if (found.schema != found.schema_known) {
        found.unread = "it has schema " + std::to_string(found.schema);
        return;
    }
    sqlite::reads_over<read_tx> tx(db, {});
    static_cast<store_sight&>(found) = look_at_rows(tx);
}

}  // namespace

store_state inspect_store(const fs::path& data_dir, const rows_looker& look_at_rows) {
    const fs::path file = data_dir / "callsign.sqlite3";
    store_state found;
    found.schema_known = static_cast<std::int64_t>(sqlite::migrations().size());
    read_header(file, found);
    found.holder = holder_of(data_dir / "callsign.lock");
    if (!found.is_database) return found;
    try {
        connection db(uri_of(file, found.holder != 0), SQLite::OPEN_READONLY | SQLite::OPEN_URI,
                      look_cache_bytes);
        read_rows(db, look_at_rows, found);
    } catch (const std::exception& e) {
        found.unread = e.what();
    }
    return found;
}

}  // namespace callsign
