#pragma once
// Answers as people read them: columns that line up, and nothing that could move the cursor; and
// what they give to read.

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

// One line each, columns two spaces apart, an empty cell as "-". Nothing for no rows. The cells of
// one column may be bold.
void print_table(std::ostream& out, const row& head, const std::vector<row>& rows,
                 std::size_t bold_column = no_column);

// "name  value" lines; those without a value are left out.
void print_fields(std::ostream& out,
                  const std::vector<std::pair<std::string, std::string>>& fields);

// To its end.
std::string read_all(std::istream& in);

// Some editors and spreadsheets begin a file with one.
std::string_view without_byte_order_mark(std::string_view text);

// Control characters become '?'. Bytes of UTF-8 pass.
std::string printable(std::string_view text);

// As many columns of it as there are; what was cut off is shown by dots.
std::string shortened(std::string_view text, std::size_t columns);

// RFC 3339; empty for an instant that is not set.
std::string time_text(bool set, const google::protobuf::Timestamp& at);

}  // namespace callsign::cli
