#pragma once
// Text that users read, in aligned columns and without control characters, and text that they
// provide.

#include <cstddef>
#include <google/protobuf/timestamp.pb.h>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::cli {

using row = std::vector<std::string>;

constexpr std::size_t no_column = static_cast<std::size_t>(-1);

// Prints one line per row, columns two spaces apart, an empty cell as "-"; nothing without rows.
// One column may be bold.
void print_table(std::ostream& out, const row& head, const std::vector<row>& rows,
                 std::size_t bold_column = no_column);

// Prints "name  value" lines, without those that have no value.
void print_fields(std::ostream& out,
                  const std::vector<std::pair<std::string, std::string>>& fields);

// Reads to the end.
std::string read_all(std::istream& in);

// Some editors and spreadsheets begin a file with a byte order mark.
std::string_view without_byte_order_mark(std::string_view text);

// Control characters become '?'. Bytes of UTF-8 are kept.
std::string printable(std::string_view text);

// Cuts the text to `columns`; dots mark a cut.
std::string shortened(std::string_view text, std::size_t columns);

// Returns RFC 3339; empty for an instant that is not set.
std::string time_text(bool set, const google::protobuf::Timestamp& at);

}  // namespace callsign::cli
