#pragma once
// Cursors of the feed: MARK.SEQ, or MARK.SEQ.TASKS within a version. The mark distinguishes
// versions with the same seq, so that a cursor from before a restore is detected. "0" is the
// beginning, "now" the end. Pure.

#include <callsign/domain/queries/feed.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace callsign::wire {

struct cursor {
    feed_place place{};
    std::optional<std::string> mark{};  // none for "0" and "now"
    bool is_now = false;
};

// Returns nullopt if the text is no cursor.
std::optional<cursor> parse_cursor(std::string_view text);

std::string cursor_text(const feed_place& place, std::string_view mark);

}  // namespace callsign::wire
