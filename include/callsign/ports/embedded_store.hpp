#pragma once
// Additional operations of a store whose file belongs to this process.

#include <callsign/domain/backup.hpp>
#include <callsign/ports/store_failure.hpp>

#include <filesystem>
#include <memory>

namespace callsign {

// A copy of the store in progress. Writes meanwhile are applied to the copy, too, so that it has
// the state of the store at the last step. Writer's thread, between transactions. An unfinished
// copy is useless, and is left to the caller, who named the file.
class store_copy {
  public:
    virtual ~store_copy() = default;

    // Copies a bounded number of pages. False: the copy is complete. Throws store_failure.
    virtual bool step() = 0;
    virtual amount_done progress() = 0;
};

// Writer's thread, between transactions.
class embedded_store {
  public:
    virtual ~embedded_store() = default;

    // Does checkpoints and similar work in bounded steps; what is not possible now is done later.
    // `idle`: no command waits.
    virtual void maintain(bool idle) = 0;
    // Verifies that writes succeed: writes something without effect and makes it durable. Throws
    // store_failure: writes fail.
    virtual void prove_writable() = 0;
    // After corruption: reads the corrupt data again, from disk and not from memory. Throws
    // store_failure: it is still corrupt; or, with kind::unknown, it is not, but the store must be
    // reopened.
    virtual void prove_readable() = 0;
    // Begins a copy. The file must not exist. Throws store_failure.
    virtual std::unique_ptr<store_copy> begin_copy(const std::filesystem::path& file) = 0;
};

}  // namespace callsign
