#include "follow.hpp"

#include "shared/task_answers.hpp"

namespace callsign::api {
namespace {

rejected farewell_of(follower::end why) {
    switch (why) {
    case follower::end::token_revoked: return {problems::invalid_token, "The token was revoked."};
    case follower::end::account_closed:
        return {problems::account_disabled, "The account was disabled."};
    case follower::end::token_expired: return {problems::invalid_token, "The token has expired."};
    case follower::end::stopping:
    case follower::end::none: break;
    }
    return {problems::shutting_down, "Reconnect in a moment.", {}, true};
}

enum class next_step { look, told, wait, stop };

// Reads and sends what is next. Fills in `beat` if there is nothing.
awaitable<next_step> tell_next(following& f, feed_sink& to, v1::Heartbeat& beat) {
    const read_changes question = f.asked.ask(f.feed.clock.now(), first_look_work_max);
    net::body_lease room = f.room.beside();
    auto page = co_await f.feed.pages.read(question, std::move(room));
    if (!page->read()) {
        const boost::system::error_code why = page->read().error();
        if (is_busy(why)) {
            co_await f.me->pause(busy_pause);
            co_return next_step::look;
        }
        const rejected said = rejected_for(why);
        co_await to.end(said);
        co_return next_step::stop;
    }
    if (const auto why = rejection_of(*page->read())) {
        co_await to.end(*why);
        co_return next_step::stop;
    }
    if (!page->has_room()) {
        const rejected why{problems::overloaded, std::string(no_room_for_changes), {}, true};
        co_await to.end(why);
        co_return next_step::stop;
    }
    const read_changes::part& part = page->part();
    f.asked.go_on(part);
    if (!part.changes.empty()) {
        const bool goes_on = co_await to.tell(std::move(page));
        co_return goes_on ? next_step::told : next_step::stop;
    }
    if (part.has_more) co_return next_step::look;
    beat.set_cursor(wire::cursor_text(part.next, part.mark));
    beat.set_last(part.last);
    co_return next_step::wait;
}

}  // namespace

// An idle follower holds this frame, but not the page that it read last.
awaitable<void> follow(following& f, feed_sink& to) {
    v1::Heartbeat beat;
    const auto next_beat = [&] { return f.feed.clock.elapsed() + f.feed.options.heartbeat; };
    milliseconds due = next_beat();
    for (auto next = next_step::look; next != next_step::stop && !to.is_over();) {
        const follower::end ended = f.me->ended();
        if (ended != follower::end::none) {
            const rejected why = farewell_of(ended);
            co_await to.end(why);
            co_return;
        }
        next = co_await tell_next(f, to, beat);
        if (next == next_step::told) due = next_beat();
        // The connection may have ended during the read.
        if (next != next_step::wait || to.is_over()) continue;
        // A wake-up need not bring changes for this follower.
        const milliseconds left = due - f.feed.clock.elapsed();
        if (left > milliseconds{0}) {
            co_await f.me->wait_beyond(f.asked.after.seq, left);
            continue;
        }
        const bool goes_on = co_await to.beat(beat);
        if (!goes_on) co_return;
        due = next_beat();
    }
}

awaitable<std::variant<std::shared_ptr<following>, http_response>> begin_following(
    feed_context& f, request_context& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    wire::field_errors found;
    question_reader asked(c, {"after", "ticket"}, found);
    // The Last-Event-ID of a reconnecting client overrides the URL.
    const auto field = c.request.find("Last-Event-ID");
    std::string_view after = asked.get("after");
    if (field != c.request.end() && !field->value().empty()) {
        after = {field->value().data(), field->value().size()};
    }
    feed_question question = asked.read(after.empty() ? "0" : after);
    if (!found.empty()) co_return answer_faults(c, found);

    const auto executor = co_await boost::asio::this_coro::executor;
    auto me = f.followers.join(c.who, executor);
    if (!me) co_return answer_too_many_followers(c);
    const auto begun = co_await begin_now(f, question);
    if (!begun) co_return answer_error(c, begun.error());
    // An error of the cursor is returned with a status, before the feed begins.
    const read_changes look = question.ask(f.clock.now(), 1);
    net::body_lease first_room = room_of(c);
    const auto first = co_await f.pages.read(look, std::move(first_room));
    if (!first->read()) co_return answer_error(c, first->read().error());
    if (!first->has_room()) co_return answer_busy(c, no_room_for_changes);
    if (const auto why = rejection_of(*first->read())) co_return answer_rejected(c, *why);
    question.mark.reset();
    net::body_lease room = room_of(c);
    co_return std::make_shared<following>(
        following{f, std::move(question), std::move(me), std::move(room)});
}

}  // namespace callsign::api
