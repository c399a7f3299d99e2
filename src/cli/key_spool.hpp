#pragma once
// The tasks that got no key because the server could not be asked: a file for each, named by its
// UUID, in a folder of Taskwarrior's data directory. Two programs may work on it at once; a file is
// made and removed whole, and there is nothing to repair.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <filesystem>
#include <vector>

namespace callsign::cli {

class key_spool {
  public:
    struct entry {
        uuid task{};
        time_point since;  // when it was first remembered
    };

    explicit key_spool(const std::filesystem::path& taskwarrior_data);

    // It is on disk when this returns. One that is remembered stays as it is. Throws failure.
    void remember(const uuid& task, time_point now) const;
    // Throws failure.
    void forget(const uuid& task) const;
    // The longest remembered first.
    std::vector<entry> all() const;

    // A server that is silent costs each task the whole of the wait, and hundreds may be on their
    // way; so for a moment after one that waited for nothing the others do not wait.
    void note_silence(time_point now) const noexcept;
    bool was_silent(time_point now) const noexcept;
    void end_silence() const noexcept;

  private:
    std::filesystem::path file_of(const uuid& task) const;
    std::filesystem::path silence_file() const;

    std::filesystem::path dir_;
};

}  // namespace callsign::cli
