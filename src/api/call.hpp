#pragma once
// One request on its way through the house, and what handlers may use to answer it.

#include "auth.hpp"
#include "router.hpp"

#include <callsign/api/service.hpp>
#include <callsign/api/sync_options.hpp>
#include <callsign/base/assert.hpp>
#include <callsign/domain/claim.hpp>
#include <callsign/seal/secret.hpp>
#include <callsign/wire/message.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign::api {

using boost::asio::awaitable;
using net::http_request;
using net::http_response;

class known_clients;
class registrations;
class server_snapshots;
class turnstile;

// An opaque account that is becoming a managed one.
struct managing {
    std::string account;
    std::int64_t opened = 0;  // versions of its history
    std::int64_t total = 0;
};

// The rooms behind the handlers, and what they count. Outlives every call.
struct rooms {
    callsign::engine& engine;
    callsign::reaper& reaper;
    callsign::clock& clock;
    callsign::entropy& entropy;
    authenticator& tokens;
    const service_hooks& hooks;
    const sync_options& sync;
    turnstile& turns;
    known_clients& clients;
    registrations& newcomers;
    server_snapshots& snapshots;
    const seal::key* master;  // none: no secret can be kept
    // Shared with the guard in a handler's frame: at shutdown that may outlive everything else.
    std::shared_ptr<std::optional<callsign::api::managing>> managing =
        std::make_shared<std::optional<callsign::api::managing>>();
    std::int64_t late_retries = 0;  // creations answered slot-failed since the start
};

struct route;

// Lives in the frame of service::handle, and so longer than any handler it is passed to.
struct call {
    explicit call(http_request asked) : request(std::move(asked)) {}

    http_request request;
    const route* where = nullptr;  // none: no such path
    captures captured;             // of the path, still percent-encoded
    wire::format body_form = wire::format::json;
    wire::format answer_form = wire::format::json;
    principal who;

    // On whose account its bodies are held from here on.
    void pays(net::body_payer payer) const {
        if (request.memory) request.memory->pays(payer);
    }
    // On whose share it counts. Until it is known who is asking, a stranger does.
    callsign::payer payer() const {
        if (who.account) return *who.account;
        return who.scope == token_scope::admin ? callsign::payer::operators()
                                               : callsign::payer::strangers();
    }

    // Requires: a route for accounts.
    account_id account() const {
        CALLSIGN_ASSERT(who.account);
        return *who.account;
    }
};

using handler = awaitable<http_response> (*)(rooms&, call&);

// Who may call a route.
enum class access : std::uint8_t {
    anyone,
    // A token of an account with this scope or a larger one.
    read,
    write,
    admin,
    // A token without an account.
    operators,
    // Whoever sends a client id in X-Client-Id; the handler looks at it.
    device,
};

// What a body larger than net's usual bound may be.
enum class large_body : std::uint8_t { no, segment, snapshot };

struct route {
    verb method;
    std::string_view path;
    access needs;
    bool takes_body;  // a message; else a body is not looked at
    handler run;
    large_body large = large_body::no;
};

// The whole table.
std::span<const route> all_routes() noexcept;

// The value of a header field; empty: not there.
std::string_view header_of(const http_request& request, boost::beast::http::field name);

}  // namespace callsign::api
