#include "listen_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace callsign::setup {
namespace {

// Returns false and sets errno. Such a lock requires permission to write to the file.
bool lock(int file) {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return ::fcntl(file, F_OFD_SETLK, &whole) == 0;
}

}  // namespace

listen_file::listen_file(std::filesystem::path file, const std::string& url)
    : file_(std::move(file)) {
    std::filesystem::path unfinished = file_;
    unfinished += ".new";
    ::unlink(unfinished.c_str());  // left by an interrupted start
    const std::string text = url + "\n";
    const auto size = static_cast<ssize_t>(text.size());
    locked_ = ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    const bool is_made = locked_ >= 0 && lock(locked_) &&
                         ::write(locked_, text.data(), text.size()) == size &&
                         ::rename(unfinished.c_str(), file_.c_str()) == 0;
    if (is_made) return;
    const int why = errno;
    if (locked_ >= 0) ::close(locked_);
    throw std::system_error(why, std::generic_category(), file_.string() + ": cannot be written");
}

listen_file::~listen_file() {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
    ::close(locked_);
}

void make_listen_file(std::optional<listen_file>& made, const std::filesystem::path& data_dir,
                      const std::string& url, platform::logger& log) {
    try {
        made.emplace(data_dir / "listen.url", url);
    } catch (const std::system_error& e) {
        log.log(platform::log_level::warn, "listen.url not written; callsign needs --url",
                {{"error", e.what()}});
    }
}

}  // namespace callsign::setup
