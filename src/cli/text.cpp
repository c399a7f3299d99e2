#include "text.hpp"

#include <callsign/base/time.hpp>
#include <callsign/wire/message.hpp>

#include <algorithm>
#include <iterator>

namespace callsign::cli {
namespace {

// Returns the columns on a terminal, approximately: one for each code point.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void print_row(std::ostream& out, const row& cells, const std::vector<std::size_t>& widths,
               std::size_t bold_column = no_column) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) line += "  ";
        line += i == bold_column ? "\x1b[1m" + cells[i] + "\x1b[0m" : cells[i];
        line.append(widths[i] - width(cells[i]), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
}

}  // namespace

void print_table(std::ostream& out, const row& head, const std::vector<row>& rows,
                 std::size_t bold_column) {
    if (rows.empty()) return;
    std::vector<row> shown{head};
    for (const row& cells : rows) {
        row& line = shown.emplace_back();
        for (const std::string& cell : cells) line.push_back(cell.empty() ? "-" : printable(cell));
    }
    std::vector<std::size_t> widths(head.size());
    for (const row& line : shown) {
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], width(line[i]));
    }
    print_row(out, head, widths);
    for (std::size_t i = 1; i < shown.size(); ++i) print_row(out, shown[i], widths, bold_column);
}

void print_fields(std::ostream& out,
                  const std::vector<std::pair<std::string, std::string>>& fields) {
    std::size_t longest = 0;
    for (const auto& [name, value] : fields) {
        if (!value.empty()) longest = std::max(longest, width(name));
    }
    for (const auto& [name, value] : fields) {
        if (!value.empty()) print_row(out, {name, printable(value)}, {longest, width(value)});
    }
}

std::string read_all(std::istream& in) {
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (text.starts_with(mark)) text.remove_prefix(mark.size());
    return text;
}

std::string printable(std::string_view text) {
    std::string out(text);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto byte = static_cast<unsigned char>(out[i]);
        const bool c1 =
            byte == 0xC2 && i + 1 < out.size() && static_cast<unsigned char>(out[i + 1]) < 0xA0;
        if (c1) out.erase(i + 1, 1);
        if (byte < 0x20 || byte == 0x7F || c1) out[i] = '?';
    }
    return out;
}

std::string shortened(std::string_view text, std::size_t columns) {
    if (width(text) <= columns) return std::string(text);
    constexpr std::string_view dots = "...";
    const std::size_t kept = columns > dots.size() ? columns - dots.size() : 0;
    std::size_t end = 0;
    for (std::size_t seen = 0; end < text.size(); ++end) {
        const bool begins = (text[end] & 0xC0) != 0x80;
        if (begins && seen++ == kept) break;
    }
    return std::string(text.substr(0, end)).append(dots.substr(0, columns - kept));
}

std::string time_text(bool set, const google::protobuf::Timestamp& at) {
    if (!set) return {};
    return to_rfc3339(wire::to_time_point(at));
}

}  // namespace callsign::cli
