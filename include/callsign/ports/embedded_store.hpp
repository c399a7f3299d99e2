#pragma once
// What a store has besides whose file is this process's own.

#include <callsign/domain/backup.hpp>
#include <callsign/ports/store_failure.hpp>

#include <filesystem>
#include <memory>

namespace callsign {

// A copy on its way into a file, beside writes: what they change is changed in the copy, too, so
// that it is the store as it stands at the last step. Writer's thread, between transactions. What
// is not finished is of no use, and is whoever's who named the file.
class store_copy {
  public:
    virtual ~store_copy() = default;

    // A bounded number of pages. False: that was all. Throws store_failure.
    virtual bool step() = 0;
    virtual amount_done progress() = 0;
};

// Writer's thread, between transactions.
class embedded_store {
  public:
    virtual ~embedded_store() = default;

    // Checkpoints and the like, in bounded pieces. What cannot be done now is done another time.
    // `idle`: nothing waits.
    virtual void maintain(bool idle) = 0;
    // Writes something that changes nothing, and makes it durable. Throws store_failure: writes are
    // refused.
    virtual void prove_writable() = 0;
    // After damage: looks at what was met again, on the disk and not in memory. Throws
    // store_failure: it is as it was; or, as unknown, it reads well, and the store is to be opened
    // again for it.
    virtual void prove_readable() = 0;
    // The file must not be there yet. Throws store_failure.
    virtual std::unique_ptr<store_copy> begin_copy(const std::filesystem::path& file) = 0;
};

}  // namespace callsign
