#pragma once
// What a stream and a socket have in common: read, tell, wait, until one end has enough.

#include "question.hpp"

#include <memory>
#include <string>

namespace callsign::api {

// Puts it into bytes, in its own form. Each function is false once the client hears no more.
class feed_sink {
  public:
    virtual ~feed_sink() = default;

    // `page` has changes. It is shared by those who read the same, for what they make of it.
    virtual awaitable<bool> tell(std::shared_ptr<feed_page> page) = 0;
    virtual awaitable<bool> beat(const v1::Heartbeat& message) = 0;
    virtual awaitable<void> end(const refused& why) = 0;
    virtual bool is_over() const = 0;
};

// One follower's way through the feed. Kept by its connection, longer than the request.
struct following {
    feed_context& feed;
    feed_question asked;
    std::shared_ptr<follower> me;
    net::body_lease room;  // that its pages are held like; without a byte itself
};

// Requires: it was answered with a part.
inline const std::vector<task_change>& changes_of(const feed_page& page) {
    return std::get<read_changes::part>(**page.answer).changes;
}

// When the server is at its limit, a follower waits with everybody else.
inline constexpr milliseconds busy_pause{100};
inline bool is_busy(const boost::system::error_code& error) {
    return error == errc::overloaded || error == errc::deadline_exceeded;
}

// Has make() put the page's changes into words, once for all who have the page. Error: it cannot
// be done, or not before the follower ends.
template <class Make>
awaitable<boost::system::error_code> put_into_words(const following& f, feed_page& page,
                                                    page_form form, Make make) {
    feed_page::text& text = page.in(form);
    while (text.messages.empty()) {
        if (text.is_under_way) {
            text.waiting.push_back(f.me);
            while (text.is_under_way) co_await f.me->pause(std::chrono::hours{1});
            continue;
        }
        text.is_under_way = true;
        const std::shared_ptr<void> afterwards(nullptr, [&text](void*) {
            text.is_under_way = false;
            for (const auto& each : std::exchange(text.waiting, {})) {
                if (const auto who = each.lock()) who->wake();
            }
        });
        auto made =
            co_await encoded(f.feed.engine, f.asked.account, work_of(changes_of(page)), make);
        if (made) {
            text.messages = std::move(*made);
            continue;
        }
        if (!is_busy(made.error()) || f.me->ended() != follower::end::none) co_return made.error();
        co_await f.me->pause(busy_pause);
    }
    co_return boost::system::error_code{};
}

// Until the client, the server or the token ends it.
awaitable<void> follow(following& f, feed_sink& to);

// What begins a stream or a socket: the follower, or the answer to the request.
awaitable<std::variant<std::shared_ptr<following>, http_response>> begin_following(
    feed_context& f, request_context& c);

}  // namespace callsign::api
