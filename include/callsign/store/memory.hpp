#pragma once
// In-memory store: a strict fake for tests, and the simulator's disk. Committed state lasts for the
// object's life unless a power cut is simulated. Counts transactions that wrote and were dropped
// without a commit, so that tests can assert that only intended ones were.

#include <callsign/ports/store.hpp>

#include <memory>

namespace callsign {

class strict_memory_store : public store {
  public:
    // Returns how many transactions wrote and were dropped without a commit. Writer's thread.
    virtual int forgotten_commits() const = 0;
    // Simulates a power cut: discards commits that were not synced. Between transactions.
    virtual void lose_unsynced() = 0;
    // Reads the state that lose_unsynced() would leave.
    virtual std::unique_ptr<read_tx> begin_durable_read() = 0;
    // Returns an independent store with the committed state, as a backup has it.
    virtual std::unique_ptr<strict_memory_store> copy() = 0;
};

std::unique_ptr<strict_memory_store> make_memory_store();

}  // namespace callsign
