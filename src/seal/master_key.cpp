#include <callsign/base/hex.hpp>
#include <callsign/seal/master_key.hpp>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace callsign::seal {
namespace {

constexpr std::size_t digits = 2 * key_bytes;

// Closes what it holds.
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

std::string_view without_line_end(std::string_view text) noexcept {
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

// As many bytes as there are, up to the size of `into`; nullopt: the file can't be read.
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

// A new name is on disk once its folder is.
bool sync_folder_of(const std::filesystem::path& file) {
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    const descriptor d(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return d && ::fsync(d.get()) == 0;
}

secret_bytes text_of(std::span<const std::uint8_t, key_bytes> bytes) {
    constexpr std::string_view hex = "0123456789abcdef";
    secret_bytes text(digits + 1);
    auto out = text.writable();
    for (std::size_t i = 0; i < key_bytes; ++i) {
        out[2 * i] = static_cast<std::uint8_t>(hex[bytes[i] >> 4]);
        out[2 * i + 1] = static_cast<std::uint8_t>(hex[bytes[i] & 0x0F]);
    }
    out[digits] = '\n';
    return text;
}

}  // namespace

std::string_view to_string(master_key_error error) noexcept {
    switch (error) {
    case master_key_error::unreadable: return "The master key's file can't be read.";
    case master_key_error::not_a_file: return "The master key must be in a regular file.";
    case master_key_error::open_to_all:
        return "The master key's file is open to others than its owner: chmod 600 it.";
    case master_key_error::malformed: return "A master key is 64 hexadecimal digits.";
    case master_key_error::exists: return "The master key's file exists already.";
    case master_key_error::not_written: return "The master key's file can't be written.";
    }
    return "";
}

master_key parse_master_key(std::string_view text) {
    text = without_line_end(text);
    if (text.size() != digits) return master_key_error::malformed;
    secret_bytes bytes(key_bytes);
    for (std::size_t i = 0; i < key_bytes; ++i) {
        const int high = hex_value(text[2 * i]);
        const int low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0) return master_key_error::malformed;
        bytes.writable()[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return key(bytes.bytes().first<key_bytes>());
}

master_key read_master_key(const std::filesystem::path& file) {
    // Without O_NONBLOCK a pipe by that name would hold up the start.
    const descriptor d(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!d || ::fstat(d.get(), &status) != 0) return master_key_error::unreadable;
    if (!S_ISREG(status.st_mode)) return master_key_error::not_a_file;
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) return master_key_error::open_to_all;
    // One byte more than the longest that is well-formed, to see that there is more.
    secret_bytes text(digits + 3);
    const std::optional<std::size_t> size = read_all(d.get(), text.writable());
    if (!size) return master_key_error::unreadable;
    return parse_master_key({reinterpret_cast<const char*>(text.bytes().data()), *size});
}

master_key make_master_key(const std::filesystem::path& file,
                           std::span<const std::uint8_t, key_bytes> random) {
    const descriptor d(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!d) return errno == EEXIST ? master_key_error::exists : master_key_error::not_written;
    const secret_bytes text = text_of(random);
    if (!write_all(d.get(), text.bytes()) || ::fsync(d.get()) != 0 || !sync_folder_of(file)) {
        ::unlink(file.c_str());
        return master_key_error::not_written;
    }
    return key(random);
}

}  // namespace callsign::seal
