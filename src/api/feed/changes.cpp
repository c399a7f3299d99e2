// GET /v1/changes: changes after a cursor, with a long poll (docs/api.md, "Change feed").

#include "handlers.hpp"
#include "question.hpp"
#include "shared/task_answers.hpp"

#include <callsign/base/text.hpp>

namespace callsign::api {
namespace {

constexpr std::int64_t limit_max = 1000;
constexpr std::size_t limit_usual = 100;
constexpr milliseconds wait_max{std::chrono::seconds{60}};
// Proxies end a request that has no response after a minute.
constexpr milliseconds waited_max{std::chrono::seconds{55}};

// Queries without a match, after which only the cursor is returned.
constexpr int poll_looks_max = 10;

void read_limit(std::string_view text, std::size_t& limit, wire::field_errors& found) {
    limit = limit_usual;
    if (text.empty()) return;
    const auto wanted = parse_integer(text);
    if (!wanted || *wanted < 0) {
        add_error(found, {"limit", "invalid", "Must be a whole number, 1 to 1000."});
    } else if (*wanted > 0) {
        limit = static_cast<std::size_t>(std::min(*wanted, limit_max));
    }
}

milliseconds read_wait(std::string_view text, wire::field_errors& found) {
    if (text.empty()) return milliseconds{0};
    const auto wanted = parse_duration(text);
    if (wanted && *wanted <= wait_max) return std::min(*wanted, waited_max);
    add_error(found, {"wait", "invalid", "Must be a duration such as 30s, at most 60s."});
    return milliseconds{0};
}

http_response answer_changes(const feed_context& f, const request_context& c,
                             const read_changes::part& part) {
    v1::ChangeList message;
    for (const task_change& change : part.changes) {
        *message.add_changes() = wire::to_message(change, f.key_attribute);
    }
    message.set_cursor(wire::cursor_text(part.next, part.mark));
    message.set_last(part.last);
    return answer_message(c, 200, message);
}

}  // namespace

awaitable<http_response> get_changes(feed_context& f, request_context& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    wire::field_errors found;
    question_reader asked(c, {"after", "limit", "wait"}, found);
    const std::string_view after = asked.get("after");
    feed_question question = asked.read(after.empty() ? "0" : after);
    read_limit(asked.get("limit"), question.limit, found);
    const milliseconds wait = read_wait(asked.get("wait"), found);
    if (!found.empty()) co_return answer_faults(c, found);

    const auto executor = co_await boost::asio::this_coro::executor;
    const auto me = f.followers.join(c.who, executor);
    if (!me) co_return answer_too_many_followers(c);
    const auto begun = co_await begin_now(f, question);
    if (!begun) co_return answer_error(c, begun.error());
    const milliseconds until = f.clock.elapsed() + wait;
    for (int look = 0;; ++look) {
        const std::size_t work_max = look == 0 ? first_look_work_max : step_work_max;
        const read_changes next = question.ask(f.clock.now(), work_max);
        net::body_lease room = room_of(c);
        const auto page = co_await f.pages.read(next, std::move(room));
        if (!page->read()) co_return answer_error(c, page->read().error());
        if (!page->has_room()) co_return answer_busy(c, no_room_for_changes);
        const read_changes::answer& read = *page->read();
        if (const auto why = rejection_of(read)) co_return answer_rejected(c, *why);
        const auto& part = std::get<read_changes::part>(read);
        question.go_on(part);
        const milliseconds left = until - f.clock.elapsed();
        const bool is_enough =
            !part.changes.empty() || look >= poll_looks_max || me->ended() != follower::end::none ||
            (!part.has_more && !me->is_beyond(part.next.seq) && left <= milliseconds{0});
        if (is_enough) {
            auto make = [&] { return answer_changes(f, c, part); };
            co_return co_await answer_encoded(f.engine, c, work_of(part.changes), std::move(make));
        }
        if (part.has_more) continue;
        look = -1;  // the next query is small
        const net::waiting here(c.request, [me] { me->wake(); });
        if (!here.is_over()) co_await me->wait_beyond(part.next.seq, left);
        if (here.is_over()) co_return answer_changes(f, c, part);
    }
}

}  // namespace callsign::api
