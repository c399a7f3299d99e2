#pragma once
// Files that survive a power cut. All functions throw std::runtime_error with a message for the
// operator.

#include <callsign/base/describe_file_error.hpp>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>

namespace callsign::sqlite {

class descriptor {
  public:
    descriptor(std::filesystem::path file, int flags)
        : file_(std::move(file)), number_(::open(file_.c_str(), flags | O_CLOEXEC, 0600)) {
        if (number_ < 0) fail("open");
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() { ::close(number_); }

    void write(std::string_view text) {
        while (!text.empty()) {
            const ::ssize_t written = ::write(number_, text.data(), text.size());
            if (written < 0 && errno != EINTR) fail("write");
            if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    void sync() {
        if (::fsync(number_) != 0) fail("write");
    }

  private:
    [[noreturn]] void fail(const char* what) const {
        throw std::runtime_error("cannot " + std::string(what) + " " + file_.string() + ": " +
                                 describe_file_error(file_, errno, file_use::making));
    }

    std::filesystem::path file_;
    int number_;
};

inline void sync_file(const std::filesystem::path& file) {
    descriptor(file, O_RDWR).sync();
}

inline void sync_directory(const std::filesystem::path& directory) {
    descriptor(directory, O_RDONLY | O_DIRECTORY).sync();
}

// Replaces the file atomically.
inline void write_durably(const std::filesystem::path& file, std::string_view text) {
    const std::filesystem::path unfinished = file.string() + ".new";
    std::filesystem::remove(unfinished);
    {
        descriptor out(unfinished, O_WRONLY | O_CREAT | O_EXCL);
        out.write(text);
        out.sync();
    }
    std::filesystem::rename(unfinished, file);
    sync_directory(file.parent_path());
}

}  // namespace callsign::sqlite
