#pragma once
// Exclusive lock of a data directory.

#include <callsign/base/describe_file_error.hpp>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <sys/file.h>
#include <unistd.h>

namespace callsign::sqlite {

// Held for the object's life: two processes on one directory could lose committed pages.
class directory_lock {
  public:
    explicit directory_lock(const std::filesystem::path& file)
        : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (descriptor_ < 0) {
            throw std::runtime_error("cannot open " + file.string() + ": " +
                                     describe_file_error(file, errno, file_use::making));
        }
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
            ::close(descriptor_);
            throw std::runtime_error("another callsignd holds " + file.parent_path().string());
        }
    }
    directory_lock(const directory_lock&) = delete;
    directory_lock& operator=(const directory_lock&) = delete;
    ~directory_lock() { ::close(descriptor_); }

  private:
    int descriptor_;
};

}  // namespace callsign::sqlite
