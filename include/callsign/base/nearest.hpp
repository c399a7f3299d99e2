#pragma once
// What somebody may have meant who misspelt a word: a command, an option, a setting.

#include <span>
#include <string>
#include <string_view>

namespace callsign {

// The known word that the fewest slips lead to, or an empty one if none is near. A slip is a letter
// too many, a letter too few, another letter, or two that changed places; one in three letters of
// the word may be one. Case does not count.
std::string_view nearest(std::string_view word, std::span<const std::string> known);

// "; did you mean 'account'?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace callsign
