#pragma once
// Tasks that have no key because the server could not be reached: a file for each, named by its
// UUID, in a directory below Taskwarrior's data directory. Two programs may use it concurrently:
// files are created and removed atomically, and need no repair.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <filesystem>
#include <vector>

namespace callsign::cli {

class key_spool {
  public:
    struct entry {
        uuid task{};
        time_point since;  // when it was first spooled
    };

    explicit key_spool(const std::filesystem::path& taskwarrior_data);

    // Durable on return. An existing entry is unchanged. Throws failure.
    void remember(const uuid& task, time_point now) const;
    // Throws failure.
    void forget(const uuid& task) const;
    // Returns the oldest entries first.
    std::vector<entry> all() const;

    // A server that does not respond costs each task the whole timeout, and there may be hundreds
    // of tasks; so for a short time after one timeout the others do not wait.
    void note_silence(time_point now) const noexcept;
    bool was_silent(time_point now) const noexcept;
    void end_silence() const noexcept;

  private:
    std::filesystem::path file_of(const uuid& task) const;
    std::filesystem::path silence_file() const;

    std::filesystem::path dir_;
};

}  // namespace callsign::cli
