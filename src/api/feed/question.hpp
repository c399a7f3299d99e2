#pragma once
// A follower's query, and its progress.

#include "callsign/v1/callsign.pb.h"
#include "handlers.hpp"
#include "shared/answers.hpp"
#include "shared/problem.hpp"

#include <callsign/domain/query.hpp>
#include <callsign/wire/cursor.hpp>

#include <optional>
#include <string>
#include <variant>

namespace callsign::api {

struct feed_question {
    account_id account;
    feed_place after{};
    std::optional<std::string> mark{};  // removed once it was compared
    std::optional<task_filter> filter{};
    std::size_t limit = 0;
    bool from_now = false;

    // Returns the next query; `work_max` as in read_changes.
    read_changes ask(time_point now, std::size_t work_max) const;
    // Continues after `read`.
    void go_on(const read_changes::part& read) {
        after = read.next;
        mark.reset();
    }
};

// Reads the parameters of all forms of the feed, and those of one form. Adds an error for each
// invalid one; `cursor` is where to begin, whatever the parameters say.
class question_reader {
  public:
    question_reader(const request_context& c, std::initializer_list<std::string_view> own,
                    wire::field_errors& found);

    feed_question read(std::string_view cursor);
    std::string_view get(std::string_view name) const { return asked_.get(name); }

  private:
    const request_context& c_;
    wire::field_errors& found_;
    std::vector<std::string_view> known_;
    wire::parameters asked_;
};

// Moves a query that begins now to the end of the chain.
awaitable<result<void>> begin_now(feed_context& f, feed_question& asked);

// Returns a lease on the caller's share of the body budget; it holds nothing yet.
net::body_lease room_of(const request_context& c);
inline constexpr std::string_view no_room_for_changes =
    "No memory is available for the account's changes. Retry in a moment.";

http_response answer_too_many_followers(const request_context& c);

}  // namespace callsign::api
