// POST /v1/changes/tickets: lets a client follow that cannot send its token.

#include "handlers.hpp"
#include "shared/answers.hpp"
#include "shared/task_answers.hpp"

#include <callsign/base/base64url.hpp>
#include <callsign/wire/convert.hpp>

#include <array>

namespace callsign::api {

awaitable<http_response> post_ticket(feed_context& f, request_context& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    std::array<std::uint8_t, 32> bits{};
    f.entropy.fill(bits);
    const std::string text =
        "ct_" + to_base64url({reinterpret_cast<const char*>(bits.data()), bits.size()});
    f.tickets.put(text, c.who);
    v1::FeedTicket message;
    message.set_ticket(text);
    wire::set_timestamp(*message.mutable_expires_at(), f.clock.now() + tickets::valid_for);
    co_return answer_secret(c, 201, message);
}

}  // namespace callsign::api
