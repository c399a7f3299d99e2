#pragma once
// A JSON string, written the same way wherever one is: as serde_json, which TaskChampion uses,
// does.

#include <string>
#include <string_view>

namespace callsign::wire {

// Appends `text` in quotation marks. Escaped are the quotation mark, the backslash and what is
// below U+0020, with the short escapes where there are some and lower-case digits where there are
// none.
void write_text(std::string_view text, std::string& out);

// `text` with every byte that is not part of well-formed UTF-8 (RFC 3629) replaced by U+FFFD;
// `copy` holds the bytes if any was.
std::string_view sound_text(std::string_view text, std::string& copy);

}  // namespace callsign::wire
