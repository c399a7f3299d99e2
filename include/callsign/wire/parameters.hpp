#pragma once
// Parameters in a request target. Pure. Boost.URL rejects a whole text for one invalid escape or
// one unescaped character; here both stay.

#include <callsign/domain/queries/page.hpp>
#include <callsign/wire/message.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::wire {

// Decodes percent-encoding. An invalid escape stays as it is, and is then not found.
std::string percent_decoded(std::string_view text);

// The name=value pairs of a query, decoded, with '+' as a space.
class parameters {
  public:
    // Adds an error for each name that is not `known` or is given twice: a misspelt filter would
    // silently change the result. Names in `repeatable` may be repeated.
    parameters(std::string_view text, std::span<const std::string_view> known, field_errors& found,
               std::span<const std::string_view> repeatable = {});
    parameters(std::string_view text, std::initializer_list<std::string_view> known,
               field_errors& found)
        : parameters(text, std::span(known.begin(), known.size()), found) {}

    // Returns an empty text if the name is not given.
    std::string_view get(std::string_view name) const noexcept;
    // Returns the values of that name, in order.
    std::vector<std::string> all(std::string_view name) const;

    using pair = std::pair<std::string, std::string>;
    const std::vector<pair>& pairs() const noexcept { return pairs_; }

  private:
    std::vector<pair> pairs_;
};

// pageSize and pageToken of a listing by row ID; larger sizes are cut to the maximum.
inline constexpr std::int64_t page_size_max = 1000;
page_request read_page(const parameters& asked, field_errors& found);

// Returns the text of `pageToken`.
std::string page_token(std::int64_t last_id);

}  // namespace callsign::wire
