#pragma once
// Disk space reserved for a start on a full disk: opening the files needs some.

#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace callsign::sqlite {

class disk_reserve {
  public:
    explicit disk_reserve(const std::filesystem::path& data_dir)
        : file_(data_dir / "callsign.reserve") {}

    // Returns false if there was no reserve.
    bool give_up() {
        std::error_code ignored;
        return std::filesystem::remove(file_, ignored);
    }
    void make() {
        const int file = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0) return;
        if (::posix_fallocate(file, 0, bytes) != 0) give_up();
        ::close(file);
    }

  private:
    static constexpr ::off_t bytes = ::off_t{512} * 1024;
    std::filesystem::path file_;
};

}  // namespace callsign::sqlite
