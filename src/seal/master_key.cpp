#include <callsign/base/hex.hpp>
#include <callsign/seal/master_key.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace callsign::seal {
namespace {

constexpr std::size_t digits = 2 * key_bytes;

class descriptor {
  public:
    explicit descriptor(int fd) noexcept : fd_(fd) {}
    ~descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;

    explicit operator bool() const noexcept { return fd_ >= 0; }
    int get() const noexcept { return fd_; }

  private:
    int fd_;
};

// Reads up to the size of `into`, or to the end; nullopt: the file cannot be read.
std::optional<std::size_t> read_all(int fd, std::span<std::uint8_t> into) noexcept {
    std::size_t got = 0;
    while (got < into.size()) {
        const ssize_t n = ::read(fd, into.data() + got, into.size() - got);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return std::nullopt;
        if (n == 0) break;
        got += static_cast<std::size_t>(n);
    }
    return got;
}

bool write_all(int fd, std::span<const std::uint8_t> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
}

// A new name is durable once its directory is synced.
bool sync_folder_of(const std::filesystem::path& file) {
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    const descriptor d(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return d && ::fsync(d.get()) == 0;
}

// Returns the text of the file, one line for each key.
secret_bytes text_of(std::span<const key> keys) {
    constexpr std::string_view hex = "0123456789abcdef";
    secret_bytes text(keys.size() * (digits + 1));
    auto out = text.writable();
    for (const key& k : keys) {
        for (std::size_t i = 0; i < key_bytes; ++i) {
            out[2 * i] = static_cast<std::uint8_t>(hex[k.bytes()[i] >> 4]);
            out[2 * i + 1] = static_cast<std::uint8_t>(hex[k.bytes()[i] & 0x0F]);
        }
        out[digits] = '\n';
        out = out.subspan(digits + 1);
    }
    return text;
}

std::optional<key> parse_key(std::string_view text) {
    secret_bytes bytes(key_bytes);
    for (std::size_t i = 0; i < key_bytes; ++i) {
        const int high = hex_value(text[2 * i]);
        const int low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes.writable()[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return key(bytes.bytes().first<key_bytes>());
}

// Removes a separator of two keys from the front. False: there is none.
bool skip_separator(std::string_view& text) {
    if (text.starts_with("\r\n")) {
        text.remove_prefix(2);
        return true;
    }
    if (!text.starts_with('\n') && !text.starts_with(' ')) return false;
    text.remove_prefix(1);
    return true;
}

using keys_or_error = std::variant<std::vector<key>, master_key_error>;

keys_or_error parse_keys(std::string_view text) {
    std::vector<key> keys;
    if (text.ends_with(' ')) return master_key_error::malformed;
    do {
        if (text.size() < digits) return master_key_error::malformed;
        auto next = parse_key(text.substr(0, digits));
        if (!next || std::ranges::find(keys, *next) != keys.end()) {
            return master_key_error::malformed;
        }
        if (keys.size() > key_ring::former_max) return master_key_error::too_many;
        keys.push_back(*std::move(next));
        text.remove_prefix(digits);
        if (!text.empty() && !skip_separator(text)) return master_key_error::malformed;
    } while (!text.empty());
    return keys;
}

struct key_file {
    std::vector<key> keys;
    uid_t owner = 0;
    gid_t group = 0;
};

std::variant<key_file, master_key_error> read_keys(const std::filesystem::path& file) {
    // Without O_NONBLOCK a pipe of that name would block the start.
    const descriptor d(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!d || ::fstat(d.get(), &status) != 0) return master_key_error::unreadable;
    if (!S_ISREG(status.st_mode)) return master_key_error::not_a_file;
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) return master_key_error::open_to_all;
    // Larger than the longest valid file, so that excess is detected.
    secret_bytes text((key_ring::former_max + 2) * (digits + 2));
    const std::optional<std::size_t> size = read_all(d.get(), text.writable());
    if (!size) return master_key_error::unreadable;
    auto keys = parse_keys({reinterpret_cast<const char*>(text.bytes().data()), *size});
    if (const auto* error = std::get_if<master_key_error>(&keys)) return *error;
    return key_file{std::get<std::vector<key>>(std::move(keys)), status.st_uid, status.st_gid};
}

// Creates the file for its owner alone and syncs it. `then` is called before the sync.
template <class Then>
bool make_file(const std::filesystem::path& file, std::span<const key> keys, const Then& then) {
    const descriptor d(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!d) return false;
    const secret_bytes text = text_of(keys);
    const bool made = write_all(d.get(), text.bytes()) && then(d.get()) && ::fsync(d.get()) == 0;
    if (!made) ::unlink(file.c_str());
    return made;
}

// Replaces the file atomically.
std::optional<master_key_error> replace(const std::filesystem::path& file, const key_file& now) {
    std::filesystem::path beside = file;
    beside += ".new";
    ::unlink(beside.c_str());  // left by an interrupted call
    const auto give = [&](int fd) { return ::fchown(fd, now.owner, now.group) == 0; };
    if (!make_file(beside, now.keys, give)) return master_key_error::not_written;
    if (::rename(beside.c_str(), file.c_str()) != 0) {
        ::unlink(beside.c_str());
        return master_key_error::not_written;
    }
    if (!sync_folder_of(file)) return master_key_error::not_written;
    return std::nullopt;
}

}  // namespace

std::string_view to_string(master_key_error error) noexcept {
    switch (error) {
    case master_key_error::unreadable: return "The master key's file cannot be read.";
    case master_key_error::not_a_file: return "The master key must be in a regular file.";
    case master_key_error::open_to_all:
        return "The master key's file is accessible to other users: chmod 600 the file.";
    case master_key_error::malformed: return "A master key must be 64 hexadecimal digits.";
    case master_key_error::too_many: return "More than four former master keys: remove them first.";
    case master_key_error::exists: return "The master key's file already exists.";
    case master_key_error::not_written: return "The master key's file cannot be written.";
    }
    return "";
}

master_key parse_master_key(std::string_view text) {
    auto keys = parse_keys(text);
    if (const auto* error = std::get_if<master_key_error>(&keys)) return *error;
    return key_ring(std::get<std::vector<key>>(std::move(keys)));
}

master_key read_master_key(const std::filesystem::path& file) {
    auto found = read_keys(file);
    if (const auto* error = std::get_if<master_key_error>(&found)) return *error;
    return key_ring(std::get<key_file>(std::move(found)).keys);
}

std::optional<master_key_error> make_master_key(const std::filesystem::path& file,
                                                std::span<const std::uint8_t, key_bytes> random) {
    std::vector<key> keys;
    keys.emplace_back(random);
    if (!make_file(file, keys, [](int /*unused*/) { return true; })) {
        return errno == EEXIST ? master_key_error::exists : master_key_error::not_written;
    }
    if (sync_folder_of(file)) return std::nullopt;
    ::unlink(file.c_str());
    return master_key_error::not_written;
}

std::optional<master_key_error> rotate_master_key(const std::filesystem::path& file,
                                                  std::span<const std::uint8_t, key_bytes> random) {
    auto found = read_keys(file);
    if (const auto* error = std::get_if<master_key_error>(&found)) return *error;
    auto& now = std::get<key_file>(found);
    if (now.keys.size() > key_ring::former_max) return master_key_error::too_many;
    now.keys.emplace(now.keys.begin(), random);
    return replace(file, now);
}

std::optional<master_key_error> drop_former_keys(const std::filesystem::path& file) {
    auto found = read_keys(file);
    if (const auto* error = std::get_if<master_key_error>(&found)) return *error;
    auto& now = std::get<key_file>(found);
    now.keys.erase(now.keys.begin() + 1, now.keys.end());
    return replace(file, now);
}

}  // namespace callsign::seal
