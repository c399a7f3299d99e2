#pragma once
// Accounts, and how far each has come. Where one is expected, none is damage.

#include <callsign/domain/account.hpp>
#include <callsign/ports/store.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign::accounts {

std::optional<account> find(read_tx& tx, account_id id);
std::optional<account> find(read_tx& tx, std::string_view name);
// At most `limit` after `after`, in the order of their ids.
std::vector<account> some(read_tx& tx, account_id after, std::int64_t limit);
std::vector<account> all(read_tx& tx);
// At most `limit` of those deleted before `before`, in the order of that.
std::vector<account> deleted(read_tx& tx, time_point before, std::int64_t limit);
// As people are shown it: with its default series' prefix.
account shown(read_tx& tx, account a);

// Nothing, of one that is not there.
chain_head head_of(read_tx& tx, account_id id);
bool is_elsewhere(read_tx& tx, account_id id);
// What each version after this one did is known.
std::int64_t history_from(read_tx& tx, account_id id);

// Requires: nobody else has the name.
account_id put(write_tx& tx, std::string_view name, time_point now,
               account_mode mode = account_mode::managed);
// Its name, its state, and since when it is deleted. Requires: nobody else has the name.
void update(write_tx& tx, const account& now);
// Of its versions and its snapshot there are so many bytes more, and so many less.
void add_stored(write_tx& tx, account_id id, std::size_t more, std::size_t less);
// Its chain are the versions taken over, up to `last`, and head_of() says from now on how far it
// was sealed. Its sealed versions and its snapshot stay. Requires: it is opaque.
void become_managed(write_tx& tx, account_id id, const chain_head& last);

}  // namespace callsign::accounts
