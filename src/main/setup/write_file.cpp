#include "write_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace callsign::setup {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const char* why) {
    throw std::system_error(errno, std::generic_category(), file.string() + ": " + why);
}

// A file descriptor, closed by the destructor.
class descriptor {
  public:
    descriptor(const fs::path& file, int flags, unsigned mode = 0)
        : file_(file), number_(::open(file.c_str(), flags | O_CLOEXEC, mode)) {
        if (number_ < 0) fail(file_, "cannot be opened");
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() { ::close(number_); }

    void write(std::string_view text) {
        while (!text.empty()) {
            const ssize_t written = ::write(number_, text.data(), text.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail(file_, "cannot be written");
            text.remove_prefix(static_cast<std::size_t>(written));
        }
    }

    void sync() {
        if (::fsync(number_) != 0) fail(file_, "cannot be made durable");
    }

  private:
    fs::path file_;
    int number_;
};

}  // namespace

void write_file(const fs::path& file, std::string_view text, unsigned mode) {
    fs::path unfinished = file;
    unfinished += ".new";
    ::unlink(unfinished.c_str());  // left by an interrupted start
    {
        descriptor out(unfinished, O_WRONLY | O_CREAT | O_EXCL, mode);
        out.write(text);
        out.sync();
    }
    if (::rename(unfinished.c_str(), file.c_str()) != 0) fail(file, "cannot be put in place");
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    descriptor(folder, O_RDONLY | O_DIRECTORY).sync();
}

}  // namespace callsign::setup
