#pragma once
// A server's end of a shared store that it does not own.

#include <callsign/ports/store.hpp>
#include <callsign/store/batch_log.hpp>

#include <memory>
#include <optional>

namespace callsign {

// One thread.
class standby_store {
  public:
    virtual ~standby_store() = default;

    // Looks at the batch log. True: the store may be taken over. Throws store_failure: no database
    // that can be written responds. Throws std::runtime_error with a message for the operator: the
    // schema is newer than this program.
    virtual bool look() = 0;
    // The last row that was seen.
    virtual std::optional<log_row> last() const = 0;
    // Takes the store over. Null: another server was first. Requires: look() returned true just
    // now. Throws store_failure. Afterwards this object is useless if a store was returned.
    virtual std::unique_ptr<store> take_over() = 0;
};

}  // namespace callsign
