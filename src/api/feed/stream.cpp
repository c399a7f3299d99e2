// GET /v1/changes/stream: the feed as server-sent events (WHATWG HTML standard, section 9.2).

#include "follow.hpp"
#include "handlers.hpp"

namespace callsign::api {
namespace {

// Time after which a client reconnects.
constexpr std::string_view retry_line = "retry: 2000\n\n";

std::string event_of(std::string_view kind, std::string_view id,
                     const google::protobuf::Message& data) {
    std::string text;
    if (!id.empty()) text.append("id: ").append(id).append("\n");
    // One line: encoded JSON has no line breaks.
    text.append("event: ").append(kind).append("\ndata: ");
    return text.append(wire::encode(wire::format::json, data)).append("\n\n");
}

class event_sink final : public feed_sink {
  public:
    event_sink(net::body_stream& out, const following& f) : out_(out), following_(f) {}

    awaitable<bool> tell(std::shared_ptr<jobs::feed_page> page) override {
        auto make = [page, &key_attribute = following_.feed.key_attribute] {
            std::string all;
            for (const task_change& change : page->part().changes) {
                const v1::Change message = wire::to_message(change, key_attribute);
                all += event_of("change", message.cursor(), message);
            }
            return std::vector{std::move(all)};
        };
        const auto error =
            co_await encode(following_, *page, jobs::page_form::events, std::move(make));
        if (error) {
            const rejected why = rejected_for(error);
            co_await end(why);
            co_return false;
        }
        std::string own = page->messages(jobs::page_form::events).front();
        page.reset();  // while the client reads, only its own text is held
        co_return co_await out_.write(std::move(own));
    }
    awaitable<bool> beat(const v1::Heartbeat& message) override {
        return out_.write(event_of("heartbeat", message.cursor(), message));
    }
    awaitable<void> end(const rejected& why) override {
        std::string text = event_of("end", {}, to_message(why));
        co_await out_.write(std::move(text));
    }
    bool is_over() const override { return out_.is_over(); }

  private:
    net::body_stream& out_;
    const following& following_;
};

awaitable<void> stream(std::shared_ptr<following> f, net::body_stream& out) {
    // Shared: the callback may run after everything else is destroyed.
    out.tell_when_over([me = f->me] { me->wake(); });
    event_sink events(out, *f);
    std::string first(retry_line);
    const bool goes_on = co_await out.write(std::move(first));
    if (goes_on) co_await follow(*f, events);
}

}  // namespace

awaitable<http_response> get_changes_stream(feed_context& f, request_context& c) {
    auto begun = co_await begin_following(f, c);
    if (auto* const answer = std::get_if<http_response>(&begun)) co_return std::move(*answer);
    http_response response;
    response.content_type = "text/event-stream";
    response.headers.emplace_back("X-Accel-Buffering", "no");  // otherwise nginx buffers events
    response.write_body = [f = std::get<std::shared_ptr<following>>(std::move(begun))](
                              net::body_stream& out) { return stream(f, out); };
    co_return response;
}

}  // namespace callsign::api
