#include "question.hpp"

#include <callsign/wire/convert.hpp>
#include <callsign/wire/filter_parameters.hpp>

namespace callsign::api {

read_changes feed_question::ask(time_point now, std::size_t work_max) const {
    return {account, after, mark, limit, filter, now, work_max};
}

question_reader::question_reader(const request_context& c,
                                 std::initializer_list<std::string_view> own,
                                 wire::field_errors& found)
    : c_(c),
      found_(found),
      known_(wire::with_filter_parameters(own)),
      asked_(c.request.query(), known_, found, wire::repeatable_parameters) {}

feed_question question_reader::read(std::string_view cursor) {
    feed_question asked{.account = c_.account(), .limit = 1000};
    if (const auto at = wire::parse_cursor(cursor)) {
        asked.after = at->place;
        asked.mark = at->mark;
        asked.from_now = at->is_now;
    } else {
        add_error(found_, {"after", "malformed",
                           "Must be a cursor from the feed, \"0\" for the beginning, or \"now\"."});
    }
    asked.filter = wire::read_feed_filter(asked_, found_);
    return asked;
}

awaitable<result<void>> begin_now(feed_context& f, feed_question& asked) {
    if (!asked.from_now) co_return boost::system::in_place_value;
    const auto head = co_await f.engine.ask(find_head{asked.account});
    if (!head) co_return head.error();
    asked.after = {head->seq};
    asked.from_now = false;
    co_return boost::system::in_place_value;
}

net::body_lease room_of(const request_context& c) {
    return c.request.memory ? c.request.memory->beside() : net::body_lease();
}

http_response answer_too_many_followers(const request_context& c) {
    auto response = answer_problem(c, problems::too_many_followers,
                                   "Retry after the Retry-After delay, or use fewer connections.");
    set_retry_after(response, std::chrono::seconds{10});
    return response;
}

}  // namespace callsign::api
