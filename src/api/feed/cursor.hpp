#pragma once
// What a client keeps of a feed to go on from: MARK.SEQ, or MARK.SEQ.TASKS within a version. The
// mark tells the version from any other of its seq, so that a cursor of a store that was set back
// is noticed. "0" is the beginning, "now" the end. Pure.

#include <callsign/domain/queries/feed.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace callsign::api {

struct cursor {
    feed_place place{};
    std::optional<std::string> mark{};  // none: of "0" and "now"
    bool is_now = false;
};

// nullopt: no cursor was ever like this.
std::optional<cursor> parse_cursor(std::string_view text);

std::string cursor_text(const feed_place& place, std::string_view mark);

}  // namespace callsign::api
