#pragma once
// Common to event stream and WebSocket: read, send, wait, until either side ends.

#include "question.hpp"

#include <memory>
#include <string>

namespace callsign::api {

// Sends the feed in its own format. The functions return false once the client has left.
class feed_sink {
  public:
    virtual ~feed_sink() = default;

    // Requires: `page` has changes. Followers with the same query share it and its encoded text.
    virtual awaitable<bool> tell(std::shared_ptr<jobs::feed_page> page) = 0;
    virtual awaitable<bool> beat(const v1::Heartbeat& message) = 0;
    virtual awaitable<void> end(const rejected& why) = 0;
    virtual bool is_over() const = 0;
};

// State of one follower. Owned by its connection, which outlives the request.
struct following {
    feed_context& feed;
    feed_question asked;
    std::shared_ptr<follower> me;
    net::body_lease room;  // lease for its pages; holds nothing itself
};

// Pause of a follower while the server is overloaded.
inline constexpr milliseconds busy_pause{100};
inline bool is_busy(const boost::system::error_code& error) {
    return error == errc::overloaded || error == errc::deadline_exceeded;
}

// Encodes the page's changes with make(), once for all followers that have the page. Returns an
// error if that fails, or the follower ends first.
template <class Make>
awaitable<boost::system::error_code> encode(const following& f, jobs::feed_page& page,
                                            jobs::page_form form, Make make) {
    for (;;) {
        const auto error = co_await f.feed.pages.encode(page, form, make);
        if (!is_busy(error) || f.me->ended() != follower::end::none) co_return error;
        co_await f.me->pause(busy_pause);
    }
}

// Runs until the client, the server or the token ends it.
awaitable<void> follow(following& f, feed_sink& to);

// Begins a stream or a WebSocket. Returns the follower, or the response to the request.
awaitable<std::variant<std::shared_ptr<following>, http_response>> begin_following(
    feed_context& f, request_context& c);

}  // namespace callsign::api
