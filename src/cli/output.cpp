#include "output.hpp"

#include "failure.hpp"

#include <callsign/base/describe_file_error.hpp>

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace callsign::cli {
namespace {

bool write_whole(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace

void write_output(const std::filesystem::path& file, std::string_view text,
                  std::filesystem::perms mode) {
    const auto fail = [&] {
        throw failure("cannot write " + file.string() + ": " +
                      describe_file_error(file, errno, file_use::making));
    };
    // In the same directory, so that it can be renamed; readable only by the owner from the start.
    std::string beside = file.string() + ".XXXXXX";
    const int fd = ::mkstemp(beside.data());
    if (fd < 0) fail();
    const bool is_written =
        write_whole(fd, text) && ::fchmod(fd, static_cast<mode_t>(mode)) == 0 && ::fsync(fd) == 0;
    ::close(fd);
    if (is_written && ::rename(beside.c_str(), file.c_str()) == 0) return;
    const int error = errno;
    ::unlink(beside.c_str());
    errno = error;
    fail();
}

}  // namespace callsign::cli
