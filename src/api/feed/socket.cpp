// GET /v1/changes/socket: the feed on a WebSocket. Each message is a FeedEvent, in the format of
// the subprotocol.

#include "follow.hpp"
#include "handlers.hpp"

#include <callsign/base/text.hpp>

#include <algorithm>

namespace callsign::api {
namespace {

constexpr std::string_view json_protocol = "callsign.feed.v1+json";
constexpr std::string_view protobuf_protocol = "callsign.feed.v1+proto";

// RFC 6455 section 7.4.1.
constexpr std::uint16_t going_away = 1001;
constexpr std::uint16_t policy_violation = 1008;
constexpr std::uint16_t internal_error = 1011;

class socket_sink final : public feed_sink {
  public:
    socket_sink(net::web_socket& out, wire::format form, const following& f)
        : out_(out), form_(form), following_(f) {}

    awaitable<bool> tell(std::shared_ptr<jobs::feed_page> page) override {
        auto make = [page, form = form_, &key_attribute = following_.feed.key_attribute] {
            std::vector<std::string> all;
            for (const task_change& change : page->part().changes) {
                v1::FeedEvent event;
                *event.mutable_change() = wire::to_message(change, key_attribute);
                all.push_back(wire::encode(form, event));
            }
            return all;
        };
        const auto form =
            form_ == wire::format::json ? jobs::page_form::json : jobs::page_form::protobuf;
        const auto error = co_await encode(following_, *page, form, std::move(make));
        if (error) {
            const rejected why = rejected_for(error);
            co_await end(why);
            co_return false;
        }
        std::vector<std::string> own = page->messages(form);
        page.reset();  // while the client reads, only its own text is held
        co_return co_await out_.send(std::move(own));
    }
    awaitable<bool> beat(const v1::Heartbeat& message) override {
        v1::FeedEvent event;
        *event.mutable_heartbeat() = message;
        return out_.send({wire::encode(form_, event)});
    }
    awaitable<void> end(const rejected& why) override {
        v1::FeedEvent event;
        *event.mutable_end() = to_message(why);
        std::vector<std::string> last{wire::encode(form_, event)};
        co_await out_.send(std::move(last));
        out_.close_with(why.ask_again             ? going_away
                        : why.kind.status == 500u ? internal_error
                                                  : policy_violation);
    }
    bool is_over() const override { return out_.is_over(); }

  private:
    net::web_socket& out_;
    wire::format form_;
    const following& following_;
};

awaitable<void> talk(std::shared_ptr<following> f, wire::format form, net::web_socket& out) {
    out.tell_when_over([me = f->me] { me->wake(); });
    socket_sink sink(out, form, *f);
    co_await follow(*f, sink);
}

// Returns JSON if none is offered; nullopt: only others are.
std::optional<std::string_view> chosen_protocol(const request_context& c) {
    bool is_offered = false;
    const auto [first, last] = c.request.equal_range("Sec-WebSocket-Protocol");
    for (auto field = first; field != last; ++field) {
        std::string_view rest(field->value().data(), field->value().size());
        while (!rest.empty()) {
            const std::string_view name = take_until(rest, ',');
            if (name == json_protocol) return json_protocol;
            if (name == protobuf_protocol) return protobuf_protocol;
            is_offered = is_offered || !name.empty();
        }
    }
    if (is_offered) return std::nullopt;
    return std::string_view();
}

http_response answer_no_upgrade(const request_context& c) {
    auto response = answer_problem(c, problems::upgrade_required,
                                   "Send a WebSocket upgrade, or use GET /v1/changes/stream.");
    response.headers.emplace_back("Upgrade", "websocket");
    return response;
}

}  // namespace

awaitable<http_response> get_changes_socket(feed_context& f, request_context& c) {
    if (!c.request.wants_socket()) co_return answer_no_upgrade(c);
    const auto protocol = chosen_protocol(c);
    if (!protocol) {
        co_return answer_problem(
            c, problems::malformed_request,
            "Offer the subprotocol callsign.feed.v1+json or callsign.feed.v1+proto, or none.");
    }
    auto begun = co_await begin_following(f, c);
    if (auto* const answer = std::get_if<http_response>(&begun)) co_return std::move(*answer);
    const bool is_binary = *protocol == protobuf_protocol;
    const auto form = is_binary ? wire::format::protobuf : wire::format::json;
    http_response response;
    response.status = 101;
    response.upgrade.emplace(std::string(*protocol), is_binary,
                             [f = std::get<std::shared_ptr<following>>(std::move(begun)),
                              form](net::web_socket& out) { return talk(f, form, out); });
    co_return response;
}

}  // namespace callsign::api
