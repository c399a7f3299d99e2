// Preloaded into a server under test: simulates a power failure of the disk with the directory
// named by CALLSIGN_POWER_CUT_DIR. The file named by CALLSIGN_POWER_CUT contains the number of
// calls that may still change that disk, and a seed; it is removed once read. The next such call
// kills the process and leaves the files as after the power failure: synced content, and any part
// of the later writes (support/unsynced_file.hpp). Of the directory, the synced entries remain, and
// the first of the later changes, up to a random one. With CALLSIGN_SYNCS_LIE syncs have no effect.
//
// Applies to files directly in the directory that are written through these calls. Memory-mapped
// files are excluded: SQLite's shared memory need not survive.

#include "support/unsynced_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using callsign::testing::seeded_entropy;
using callsign::testing::unsynced_file;

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
int open_really(const char* name, int flags, mode_t mode = 0) {
    return real<int(const char*, int, ...)>("open64")(name, flags, mode);
}
ssize_t write_really(int descriptor, const void* bytes, size_t size) {
    return real<ssize_t(int, const void*, size_t)>("write")(descriptor, bytes, size);
}
int unlink_really(const std::string& name) {
    return real<int(const char*)>("unlink")(name.c_str());
}

std::string variable(const char* name) {
    const char* const text = std::getenv(name);
    return text ? text : "";
}

std::string read_whole(const std::string& file) {
    std::string all;
    const int descriptor = open_really(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return all;
    char part[65'536];
    for (ssize_t n = ::read(descriptor, part, sizeof part); n > 0;
         n = ::read(descriptor, part, sizeof part)) {
        all.append(part, static_cast<std::size_t>(n));
    }
    ::close(descriptor);
    return all;
}

class disk {
  public:
    // Null: not simulated.
    static disk* watched() {
        static disk* const instance = make();
        return instance;
    }

    // The file that a call applies to.
    struct place {
        std::string name;  // empty: the directory itself
        unsynced_file* file = nullptr;
    };

    std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }

    // The functions below require the lock.

    std::optional<place> find(int descriptor) {
        char path[4096];
        const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
        const ssize_t bytes = ::readlink(link.c_str(), path, sizeof path);
        if (bytes <= 0) return std::nullopt;
        return find(std::string_view(path, static_cast<std::size_t>(bytes)));
    }
    std::optional<place> find(std::string_view path) {
        if (path == dir_) return place{};
        const auto name = name_in_dir(path);
        if (!name) return std::nullopt;
        struct stat64 there {};
        if (::stat64((dir_ + '/' + *name).c_str(), &there) != 0 || !S_ISREG(there.st_mode)) {
            return std::nullopt;
        }
        const auto known = names_.find(*name);
        if (known != names_.end() && files_[known->second].inode == there.st_ino) {
            return place{*name, &loaded(known->second, *name)};
        }
        // A new file: its content is not durable.
        const file_id id = next_id_++;
        entry& made = files_[id];
        made.inode = there.st_ino;
        made.content.emplace();
        if (there.st_size > 0) made.content->write(0, read_whole(dir_ + '/' + *name));
        change_names({{}, *name, id});
        return place{*name, &*made.content};
    }

    // Called before a file loses its content or its name.
    void keep(std::string_view path) { find(path); }

    void renamed(std::string_view from, std::string_view to) {
        const auto was = name_in_dir(from), is = name_in_dir(to);
        if (!was || !names_.contains(*was)) {
            if (is) find(to);  // it was moved from another directory
            return;
        }
        change_names({*was, is.value_or(""), names_.at(*was)});
    }
    void unlinked(std::string_view path) {
        const auto name = name_in_dir(path);
        if (name && names_.contains(*name)) change_names({*name, {}, names_.at(*name)});
    }
    std::uint64_t name_changes() const { return names_synced_ + unsynced_names_.size(); }
    void sync_names_to(std::uint64_t changes) {
        if (changes <= names_synced_) return;
        const auto end =
            unsynced_names_.begin() + static_cast<std::ptrdiff_t>(changes - names_synced_);
        for (auto c = unsynced_names_.begin(); c != end; ++c) apply(durable_names_, *c);
        unsynced_names_.erase(unsynced_names_.begin(), end);
        names_synced_ = changes;
    }
    bool syncs_lie() const { return lies_; }

    // Counts a call that changes the disk; it may be the last one.
    void count() {
        if (!calls_left_) read_when();
        if (!calls_left_) return;
        if (*calls_left_ == 0) cut();
        --*calls_left_;
    }

  private:
    using file_id = std::uint64_t;
    using name_table = std::map<std::string, file_id>;

    struct entry {
        ino64_t inode = 0;
        std::optional<unsynced_file> content{};  // none: not used yet
    };
    struct name_change {
        std::string from;  // empty: a new file
        std::string to;    // empty: removed
        file_id file;
    };

    static disk* make() {
        const std::string dir = variable("CALLSIGN_POWER_CUT_DIR");
        return dir.empty() ? nullptr : new disk(dir);
    }
    explicit disk(std::string dir)
        : dir_(std::move(dir)),
          when_(variable("CALLSIGN_POWER_CUT")),
          lies_(!variable("CALLSIGN_SYNCS_LIE").empty()) {
        for (const auto& [name, inode] : files_there()) {
            names_[name] = next_id_;
            files_[next_id_++].inode = inode;
        }
        durable_names_ = names_;
    }

    std::vector<std::pair<std::string, ino64_t>> files_there() const {
        std::vector<std::pair<std::string, ino64_t>> all;
        DIR* const listing = ::opendir(dir_.c_str());
        if (listing == nullptr) return all;
        while (const dirent64* const each = ::readdir64(listing)) {
            struct stat64 there {};
            const bool is_file = ::stat64((dir_ + '/' + each->d_name).c_str(), &there) == 0 &&
                                 S_ISREG(there.st_mode);
            if (is_file) all.emplace_back(each->d_name, there.st_ino);
        }
        ::closedir(listing);
        return all;
    }

    std::optional<std::string> name_in_dir(std::string_view path) const {
        if (!path.starts_with(dir_) || path.size() <= dir_.size() + 1) return std::nullopt;
        if (path[dir_.size()] != '/') return std::nullopt;
        const std::string_view name = path.substr(dir_.size() + 1);
        if (name.find('/') != name.npos || name.ends_with("-shm")) return std::nullopt;
        return std::string(name);
    }

    unsynced_file& loaded(file_id id, const std::string& name) {
        auto& content = files_[id].content;
        if (!content) content.emplace(read_whole(dir_ + '/' + name));
        return *content;
    }

    static void apply(name_table& names, const name_change& c) {
        if (!c.from.empty()) names.erase(c.from);
        if (!c.to.empty()) names[c.to] = c.file;
    }
    void change_names(name_change c) {
        apply(names_, c);
        unsynced_names_.push_back(std::move(c));
    }

    void read_when() {
        const std::string text = read_whole(when_);
        if (text.empty()) return;
        char* rest = nullptr;
        calls_left_ = std::strtoull(text.c_str(), &rest, 10);
        chance_ = seeded_entropy(std::strtoull(rest, nullptr, 10));
        unlink_really(when_);
    }

    [[noreturn]] void cut() {
        const auto kept = chance_.below(unsynced_names_.size() + 1);
        sync_names_to(names_synced_ + kept);
        std::map<std::string, std::string> left;
        for (const auto& [name, id] : durable_names_) {
            const auto& content = files_[id].content;
            left[name] =
                content ? content->after_power_cut(chance_) : read_whole(dir_ + '/' + name);
        }
        for (const auto& [name, inode] : files_there()) unlink_really(dir_ + '/' + name);
        for (const auto& [name, bytes] : left) {
            const int to = open_really((dir_ + '/' + name).c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
            for (std::string_view rest = bytes; !rest.empty();) {
                const ssize_t n = write_really(to, rest.data(), rest.size());
                if (n <= 0) break;
                rest.remove_prefix(static_cast<std::size_t>(n));
            }
            ::close(to);
        }
        ::kill(::getpid(), SIGKILL);
        for (;;) ::pause();
    }

    const std::string dir_;
    const std::string when_;
    const bool lies_;
    std::mutex mutex_;
    name_table durable_names_, names_;
    std::vector<name_change> unsynced_names_;
    std::uint64_t names_synced_ = 0;
    std::map<file_id, entry> files_;
    file_id next_id_ = 1;
    std::optional<std::uint64_t> calls_left_;
    seeded_entropy chance_{1};
};

int sync_by(const char* name, int descriptor) {
    disk* const d = disk::watched();
    const auto really = [&] { return real<int(int)>(name)(descriptor); };
    if (d == nullptr) return really();
    std::uint64_t begun = 0;
    {
        const auto held = d->hold();
        const auto at = d->find(descriptor);
        if (!at) return really();
        d->count();
        if (d->syncs_lie()) return 0;
        begun = at->file ? at->file->changes() : d->name_changes();
    }
    // Other calls continue during the sync, as on a real disk.
    const int done = really();
    if (done != 0) return done;
    const auto held = d->hold();
    const auto at = d->find(descriptor);
    if (!at) return done;
    if (at->file) {
        at->file->sync_to(begun);
    } else {
        d->sync_names_to(begun);
    }
    return done;
}

template <class Write>
ssize_t write_by(int descriptor, off64_t at, const iovec* parts, int count, const Write& really) {
    disk* const d = disk::watched();
    if (d == nullptr) return really();
    const auto held = d->hold();
    const auto where = d->find(descriptor);
    if (!where || !where->file) return really();
    const ssize_t done = really();
    if (done <= 0) return done;
    std::string bytes;
    for (int i = 0; i < count; ++i) {
        bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
    }
    bytes.resize(static_cast<std::size_t>(done));
    // Without an explicit offset: derives the position of the write.
    if (at < 0) at = ::lseek64(descriptor, 0, SEEK_CUR) - done;
    where->file->write(static_cast<std::size_t>(at), std::move(bytes));
    d->count();
    return done;
}

ssize_t write_at(const char* name, int descriptor, const void* bytes, size_t size, off64_t at) {
    const iovec one{const_cast<void*>(bytes), size};
    return write_by(descriptor, at, &one, 1, [&] {
        return real<ssize_t(int, const void*, size_t, off64_t)>(name)(descriptor, bytes, size, at);
    });
}

int resize_by(int descriptor, off64_t size, bool only_grows, int (*really)(int, off64_t, off64_t),
              off64_t from) {
    disk* const d = disk::watched();
    if (d == nullptr) return really(descriptor, from, size);
    const auto held = d->hold();
    const auto where = d->find(descriptor);
    const int done = really(descriptor, from, size);
    if (!where || !where->file || done != 0) return done;
    struct stat64 now {};
    ::fstat64(descriptor, &now);
    where->file->truncate(static_cast<std::size_t>(only_grows ? now.st_size : size));
    d->count();
    return done;
}

int truncate_really(int descriptor, off64_t, off64_t size) {
    return real<int(int, off64_t)>("ftruncate64")(descriptor, size);
}
int allocate_really(int descriptor, off64_t from, off64_t size) {
    return real<int(int, off64_t, off64_t)>("posix_fallocate64")(descriptor, from, size);
}

int open_by(const char* name, int flags, mode_t mode) {
    disk* const d = disk::watched();
    if (d == nullptr || (flags & O_TRUNC) == 0) return open_really(name, flags, mode);
    const auto held = d->hold();
    d->keep(name);
    const int opened = open_really(name, flags, mode);
    if (opened < 0) return opened;
    if (const auto at = d->find(std::string_view(name)); at && at->file) at->file->truncate(0);
    d->count();
    return opened;
}

}  // namespace

extern "C" {

int fsync(int descriptor) {
    return sync_by("fsync", descriptor);
}

int fdatasync(int descriptor) {
    return sync_by("fdatasync", descriptor);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t at) {
    return write_at("pwrite", descriptor, bytes, size, at);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t at) {
    return write_at("pwrite64", descriptor, bytes, size, at);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
    const iovec one{const_cast<void*>(bytes), size};
    return write_by(descriptor, -1, &one, 1, [&] { return write_really(descriptor, bytes, size); });
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
    return write_by(descriptor, -1, parts, count, [&] {
        return real<ssize_t(int, const iovec*, int)>("writev")(descriptor, parts, count);
    });
}

int ftruncate(int descriptor, off_t size) {
    return resize_by(descriptor, size, false, &truncate_really, 0);
}

int ftruncate64(int descriptor, off64_t size) {
    return resize_by(descriptor, size, false, &truncate_really, 0);
}

int posix_fallocate(int descriptor, off_t from, off_t size) {
    return resize_by(descriptor, size, true, &allocate_really, from);
}

int posix_fallocate64(int descriptor, off64_t from, off64_t size) {
    return resize_by(descriptor, size, true, &allocate_really, from);
}

int open(const char* name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_by(name, flags, mode);
}

int open64(const char* name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_by(name, flags, mode);
}

int rename(const char* from, const char* to) {
    const auto really = [&] { return real<int(const char*, const char*)>("rename")(from, to); };
    disk* const d = disk::watched();
    if (d == nullptr) return really();
    const auto held = d->hold();
    d->keep(from);
    d->keep(to);
    const int done = really();
    if (done != 0) return done;
    d->renamed(from, to);
    d->count();
    return done;
}

int unlink(const char* name) {
    disk* const d = disk::watched();
    if (d == nullptr) return unlink_really(name);
    const auto held = d->hold();
    d->keep(name);
    const int done = unlink_really(name);
    if (done != 0) return done;
    d->unlinked(name);
    d->count();
    return done;
}

int remove(const char* name) {
    struct stat64 there {};
    if (::lstat64(name, &there) == 0 && S_ISDIR(there.st_mode)) return ::rmdir(name);
    return ::unlink(name);
}

}  // extern "C"
