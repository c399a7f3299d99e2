#pragma once
// The chains of opaque accounts, and the latest snapshot of each.

#include <callsign/domain/account.hpp>
#include <callsign/domain/sealed.hpp>
#include <callsign/ports/store.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace callsign::sealed {

// The child of `parent`, which need not be a stored version.
std::optional<sealed_version> find_child(read_tx& tx, account_id account, const uuid& parent);
// The same child without its segment.
std::optional<sealed_link> find_link(read_tx& tx, account_id account, const uuid& parent);
// The account's first version. Scans the versions of all accounts.
std::optional<sealed_version> find_first(read_tx& tx, account_id account);
// At most `limit` links of all accounts' chains after `place`, in the order of places.
std::vector<sealed_link> links(read_tx& tx, std::int64_t place, std::int64_t limit);

// Appends a version; returns its seq. Requires: `parent` is the head, or the chain is empty.
std::int64_t append(write_tx& tx, account_id account, const uuid& id, const uuid& parent,
                    time_point now, std::string segment);
// Deletes the child of `parent`; returns its size in bytes, 0 if it does not exist.
std::size_t remove(write_tx& tx, account_id account, const uuid& parent);

}  // namespace callsign::sealed

namespace callsign::snapshots {

std::optional<snapshot_mark> find_mark(read_tx& tx, account_id account);
std::optional<sealed_snapshot> find(read_tx& tx, account_id account);
// Returns the snapshot's size in bytes without loading it; 0: none exists.
std::size_t size_of(read_tx& tx, account_id account);

// Replaces the former snapshot.
void put(write_tx& tx, account_id account, const snapshot_mark& mark, time_point now,
         std::string bytes);
void remove(write_tx& tx, account_id account);

}  // namespace callsign::snapshots
