#include "key_spool.hpp"

#include "failure.hpp"

#include <callsign/base/describe_file_error.hpp>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <tuple>
#include <unistd.h>

namespace callsign::cli {
namespace {

constexpr milliseconds silence_lasts = std::chrono::seconds{10};

// Returns nullopt if the file does not exist or has no time.
std::optional<time_point> time_in(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return parse_rfc3339(line);
}

// Makes new and removed entries of the directory durable.
void settle(const std::filesystem::path& dir) {
    const int fd = ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    ::fsync(fd);
    ::close(fd);
}

}  // namespace

key_spool::key_spool(const std::filesystem::path& taskwarrior_data)
    : dir_(taskwarrior_data / "callsign-keys") {}

std::filesystem::path key_spool::file_of(const uuid& task) const {
    return dir_ / to_string(task);
}

std::filesystem::path key_spool::silence_file() const {
    return dir_ / "silent-since";
}

void key_spool::remember(const uuid& task, time_point now) const {
    std::error_code error;
    if (std::filesystem::create_directory(dir_, error)) settle(dir_.parent_path());
    if (error)
        throw failure("cannot make " + dir_.string() + ": " +
                      describe_file_error(dir_, error.value(), file_use::making));
    const std::filesystem::path file = file_of(task);
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) return;
    if (fd < 0)
        throw failure("cannot write " + file.string() + ": " +
                      describe_file_error(file, errno, file_use::making));
    // Only the file's existence counts: a full disk may have space for its name alone.
    const std::string text = to_rfc3339(now) + "\n";
    [[maybe_unused]] const auto written = ::write(fd, text.data(), text.size());
    ::fsync(fd);
    ::close(fd);
    settle(dir_);
}

void key_spool::forget(const uuid& task) const {
    std::error_code error;
    std::filesystem::remove(file_of(task), error);
    if (error)
        throw failure("cannot remove " + file_of(task).string() + ": " +
                      describe_file_error(file_of(task), error.value()));
}

std::vector<key_spool::entry> key_spool::all() const {
    std::vector<entry> entries;
    std::error_code error;
    for (std::filesystem::directory_iterator at(dir_, error), end; !error && at != end;
         at.increment(error)) {
        const auto task = parse_uuid(at->path().filename().string());
        if (!task) continue;
        // An entry without a time counts as the oldest.
        entries.push_back({*task, time_in(at->path()).value_or(time_point{})});
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        throw failure("cannot read " + dir_.string() + ": " +
                      describe_file_error(dir_, error.value()));
    }
    std::sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) {
        return std::tie(a.since, a.task) < std::tie(b.since, b.task);
    });
    return entries;
}

void key_spool::note_silence(time_point now) const noexcept {
    try {
        std::ofstream(silence_file(), std::ios::trunc) << to_rfc3339(now) << '\n';
    } catch (const std::exception&) {
        // The next hook waits, too.
    }
}

bool key_spool::was_silent(time_point now) const noexcept {
    try {
        const auto since = time_in(silence_file());
        // A time in the future is from before a correction of the clock.
        return since && *since <= now && now < *since + silence_lasts;
    } catch (const std::exception&) {
        return false;
    }
}

void key_spool::end_silence() const noexcept {
    std::error_code ignored;
    std::filesystem::remove(silence_file(), ignored);
}

}  // namespace callsign::cli
