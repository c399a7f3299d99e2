#pragma once
// The chains of opaque accounts, and the newest snapshot of each.

#include <callsign/domain/account.hpp>
#include <callsign/domain/sealed.hpp>
#include <callsign/ports/store.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace callsign::sealed {

// The version after `parent`, which need not be one of ours itself.
std::optional<sealed_version> find_child(read_tx& tx, account_id account, const uuid& parent);
// The same without its segment.
std::optional<sealed_link> find_link(read_tx& tx, account_id account, const uuid& parent);
// The version at the beginning. Looks through all accounts' versions.
std::optional<sealed_version> find_first(read_tx& tx, account_id account);
// At most `limit` links of all accounts' chains after `place`, in the order of places.
std::vector<sealed_link> links(read_tx& tx, std::int64_t place, std::int64_t limit);

// Appends; returns its seq. Requires: `parent` is the head, or the chain is empty.
std::int64_t append(write_tx& tx, account_id account, const uuid& id, const uuid& parent,
                    time_point now, std::string segment);
// The version behind `parent` is gone, if it was there: how many bytes it had.
std::size_t remove(write_tx& tx, account_id account, const uuid& parent);

}  // namespace callsign::sealed

namespace callsign::snapshots {

std::optional<snapshot_mark> find_mark(read_tx& tx, account_id account);
std::optional<sealed_snapshot> find(read_tx& tx, account_id account);
// How many bytes that would load, without loading them; 0: there is none.
std::size_t size_of(read_tx& tx, account_id account);

// In place of the one before.
void put(write_tx& tx, account_id account, const snapshot_mark& mark, time_point now,
         std::string bytes);
void remove(write_tx& tx, account_id account);

}  // namespace callsign::snapshots
