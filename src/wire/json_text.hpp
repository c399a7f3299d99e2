#pragma once
// JSON strings, written as serde_json writes them, which TaskChampion uses.

#include <string>
#include <string_view>

namespace callsign::wire {

// Appends `text` in quotation marks. Escapes quotation marks, backslashes and characters below
// U+0020: by short escapes where these exist, otherwise by lower-case hexadecimal digits.
void write_text(std::string_view text, std::string& out);

// Returns `text` with each byte that is not part of well-formed UTF-8 (RFC 3629) replaced by
// U+FFFD. The result refers to `copy` if anything was replaced.
std::string_view sound_text(std::string_view text, std::string& copy);

}  // namespace callsign::wire
