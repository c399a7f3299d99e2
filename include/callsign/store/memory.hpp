#pragma once
// A store in memory: a strict fake for tests, and the disk of the simulator. What was committed
// stays for the object's life, unless the power goes; a transaction dropped after writing without a
// commit is counted, so that tests can assert that the only ones are those they meant.

#include <callsign/ports/store.hpp>

#include <memory>

namespace callsign {

class strict_memory_store : public store {
  public:
    // Transactions that wrote and were dropped without commit. Writer's thread.
    virtual int forgotten_commits() const = 0;
    // The power goes: what was committed and not synced is gone. Between transactions.
    virtual void lose_unsynced() = 0;
    // Of what would be left then.
    virtual std::unique_ptr<read_tx> begin_durable_read() = 0;
    // Another, as this one stands: its backup.
    virtual std::unique_ptr<strict_memory_store> copy() = 0;
};

std::unique_ptr<strict_memory_store> make_memory_store();

}  // namespace callsign
