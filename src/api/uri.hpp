#pragma once
// The parts of a request target that handlers look at. Pure. Boost.URL refuses a text as a whole
// for one escape that is none, or one character that should have been escaped; here both stay.

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

namespace callsign::api {

// Percent-decoded. An escape that is none stays as it is, and is then not found.
std::string percent_decoded(std::string_view text);

// name=value pairs of a query, decoded, '+' as a space.
class query {
  public:
    // Every name that is not among `known`, or is given twice, is a fault: a misspelt filter would
    // quietly answer another question. Those that are `repeatable` may be given again.
    query(std::string_view text, std::span<const std::string_view> known, wire::faults& found,
          std::span<const std::string_view> repeatable = {});
    query(std::string_view text, std::initializer_list<std::string_view> known, wire::faults& found)
        : query(text, std::span(known.begin(), known.size()), found) {}

    // Empty: not given.
    std::string_view get(std::string_view name) const noexcept;
    // Each that is given of that name, in order.
    std::vector<std::string> all(std::string_view name) const;

    using pair = std::pair<std::string, std::string>;
    const std::vector<pair>& pairs() const noexcept { return pairs_; }

  private:
    std::vector<pair> pairs_;
};

// pageSize and pageToken of a listing in the order of its rows' ids; larger wishes get the maximum.
inline constexpr std::int64_t page_size_max = 1000;
page_request read_page(const query& asked, wire::faults& found);

// What `pageToken` is read back from.
std::string page_token(std::int64_t last_id);

}  // namespace callsign::api
