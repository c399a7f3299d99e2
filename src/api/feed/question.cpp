#include "question.hpp"

#include "../filter_parameters.hpp"

#include <callsign/wire/convert.hpp>

namespace callsign::api {

read_changes feed_question::ask(time_point now, std::size_t work_max) const {
    return {account, after, mark, limit, filter, now, work_max};
}

question_reader::question_reader(const request_context& c,
                                 std::initializer_list<std::string_view> own, wire::faults& found)
    : c_(c),
      found_(found),
      known_(with_filter_parameters(own)),
      asked_(c.request.query(), known_, found, repeatable_parameters) {}

feed_question question_reader::read(std::string_view cursor) {
    feed_question asked{.account = c_.account(), .limit = 1000};
    if (const auto at = parse_cursor(cursor)) {
        asked.after = at->place;
        asked.mark = at->mark;
        asked.from_now = at->is_now;
    } else {
        add_fault(found_, {"after", "malformed",
                           "Must be a cursor from the feed, \"0\" for the beginning, or \"now\"."});
    }
    asked.filter = read_feed_filter(asked_, found_);
    return asked;
}

// Without a status all statuses match, so that a follower sees a task close.
std::optional<task_filter> read_feed_filter(const query& asked, wire::faults& found) {
    task_filter f = read_filter(asked, found);
    if (f.needs_links()) {
        add_fault(found, {"is", "invalid",
                          "Must not be blocked, blocking, unblocked or ready: these depend on "
                          "other tasks, and are for lists only."});
    }
    const auto is_filter = [](const query::pair& p) {
        return p.first != "after" && p.first != "limit" && p.first != "wait";
    };
    if (!std::any_of(asked.pairs().begin(), asked.pairs().end(), is_filter)) return std::nullopt;
    if (f.statuses.empty()) {
        f.statuses = {task_status::pending, task_status::completed, task_status::deleted,
                      task_status::recurring};
    }
    return f;
}

awaitable<result<void>> begin_now(feed_context& f, feed_question& asked) {
    if (!asked.from_now) co_return boost::system::in_place_value;
    const auto head = co_await f.engine.ask(find_head{asked.account});
    if (!head) co_return head.error();
    asked.after = {head->seq};
    asked.from_now = false;
    co_return boost::system::in_place_value;
}

std::optional<refused> refusal_of(const read_changes::answer& read) {
    if (const auto* const expired = std::get_if<read_changes::expired>(&read)) {
        return refused{problems::cursor_expired,
                       "List the tasks, then follow from this problem's cursor.",
                       {},
                       false,
                       cursor_text({expired->oldest}, expired->mark)};
    }
    if (const auto* const diverged = std::get_if<read_changes::diverged>(&read)) {
        return refused{problems::cursor_unknown,
                       "The server was restored from a backup, or the cursor is of another server. "
                       "List the tasks, then follow from this problem's cursor.",
                       {},
                       false,
                       cursor_text({diverged->last}, diverged->mark)};
    }
    if (std::holds_alternative<unknown_series>(read)) {
        return refused_for(wire::faults{{"prefix", std::string(problems::unknown_prefix.code),
                                         "GET /v1/series lists the series."}});
    }
    return std::nullopt;
}

v1::Change to_message(const task_change& c, std::string_view key_attribute) {
    v1::Change message = wire::to_message(c, key_attribute);
    message.set_cursor(cursor_text(c.place, c.mark));
    return message;
}

net::body_lease room_of(const request_context& c) {
    return c.request.memory ? c.request.memory->beside() : net::body_lease();
}

http_response answer_too_many_followers(const request_context& c) {
    auto response = answer_problem(c, problems::too_many_followers,
                                   "Retry after the Retry-After delay, or use fewer connections.");
    response.headers.emplace_back("Retry-After", "10");
    return response;
}

}  // namespace callsign::api
