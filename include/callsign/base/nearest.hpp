#pragma once
// Suggestions for misspelt commands, options and settings.

#include <span>
#include <string>
#include <string_view>

namespace callsign {

// Returns the known word with the fewest edits from `word`, or an empty text if none is close
// enough. An edit inserts, deletes or replaces a letter or swaps two neighbours; at most one edit
// for every three letters of `word` is allowed, but always one. Case is ignored.
std::string_view nearest(std::string_view word, std::span<const std::string> known);

// Returns "; did you mean 'account'?", or an empty text.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace callsign
