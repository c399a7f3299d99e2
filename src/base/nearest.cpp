#include <callsign/base/nearest.hpp>
#include <callsign/base/text.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace callsign {
namespace {

// Longer words are not compared: they are not misspellings.
constexpr std::size_t word_bytes_max = 100;

// The edit distance; a row has the distances of one prefix of `a` to all prefixes of `b`.
std::size_t slips_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> above_last;
    std::vector<std::size_t> last(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::vector<std::size_t> row(b.size() + 1, i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + other});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], above_last[j - 2] + 1);
        }
        above_last = std::move(last);
        last = std::move(row);
    }
    return last.back();
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string> known) {
    if (word.size() > word_bytes_max) return {};
    const std::string typed = upper(word);
    std::string_view found;
    std::size_t fewest = std::max<std::size_t>(1, typed.size() / 3) + 1;
    for (const std::string& each : known) {
        const std::size_t slips = slips_between(typed, upper(each));
        // Fewer edits than letters in either word: otherwise a short word would match any other.
        if (slips >= fewest || slips >= each.size() || slips >= typed.size()) continue;
        fewest = slips;
        found = each;
    }
    return found;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
    const std::string_view found = nearest(word, known);
    return found.empty() ? "" : std::string("; did you mean '").append(found).append("'?");
}

}  // namespace callsign
