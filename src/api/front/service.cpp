#include "auth.hpp"
#include "cors.hpp"
#include "head.hpp"
#include "rate_limits.hpp"
#include "routes.hpp"
#include "shared/coding.hpp"
#include "shared/problem.hpp"
#include "shared/request_key.hpp"
#include "sync/known_clients.hpp"
#include "sync/registrations.hpp"
#include "sync/sync_call.hpp"
#include "sync/sync_sessions.hpp"
#include "sync/turnstile.hpp"

#include <callsign/base/base64url.hpp>
#include <callsign/jobs/conversion.hpp>
#include <callsign/jobs/device_keys.hpp>
#include <callsign/jobs/feed_pages.hpp>
#include <callsign/jobs/ordered_lists.hpp>
#include <callsign/jobs/snapshots.hpp>
#include <callsign/jobs/webhook_deliverer.hpp>
#include <callsign/wire/gzip.hpp>
#include <callsign/wire/parameters.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace callsign::api {
namespace {

constexpr std::string_view auth_failed = "auth-failed";

// Limit of a body that is not read. A larger body counts as large.
constexpr std::size_t unread_body_bytes_max = 16u << 10;

// Returns who is charged for a caller's bodies: the account, or all operators together.
payer payer_of(const principal& who) {
    return who.account ? payer(*who.account) : payer::operators();
}

// Compressed on the network thread up to this size: some 2 ms on a small machine.
constexpr std::size_t packed_at_once_max = 128u << 10;

using maybe_response = std::optional<http_response>;

http_response challenged(http_response response, std::string_view challenge) {
    response.headers.emplace_back("WWW-Authenticate", challenge);
    return response;
}

http_response without_token(const request_context& c) {
    auto response = answer_problem(c, problems::unauthenticated,
                                   "Send the token as Authorization: Bearer TOKEN.");
    return logged_as(challenged(std::move(response), "Bearer"), auth_failed, "no-token");
}

http_response with_bad_token(const request_context& c) {
    auto response = answer_problem(c, problems::invalid_token, "The token is unknown or revoked.");
    return logged_as(challenged(std::move(response), "Bearer error=\"invalid_token\""), auth_failed,
                     c.who.revoked ? "revoked-token" : "unknown-token");
}

http_response with_old_token(const request_context& c) {
    auto response = answer_problem(c, problems::invalid_token,
                                   "The token expired at " + to_rfc3339(*c.who.expires_at) + ".");
    return logged_as(challenged(std::move(response), "Bearer error=\"invalid_token\""), auth_failed,
                     "expired-token");
}

// Returns why the principal may not call the route, as a sentence; empty: it may.
std::string_view forbids(const request_context& c) {
    const bool of_account = c.who.account.has_value();
    const auto at_least = [&](token_scope scope) { return of_account && c.who.scope >= scope; };
    switch (c.head.route->needs) {
    case access::anyone:
    case access::device: return {};
    case access::read: return at_least(token_scope::read) ? "" : "An account token is required.";
    case access::write:
        return at_least(token_scope::write) ? "" : "An account token with scope write is required.";
    case access::admin:
        return at_least(token_scope::admin) ? "" : "An account token with scope admin is required.";
    case access::operators:
        return !of_account && c.who.scope == token_scope::admin ? ""
                                                                : "An operator token is required.";
    }
    return "The request is not permitted.";
}

// Returns the ticket in the query; empty: none, or the route takes none.
std::string ticket_of(const request_context& c) {
    if (!c.head.route->takes_ticket) return {};
    wire::field_errors ignored;
    return std::string(wire::parameters(c.request.query(), {"ticket"}, ignored).get("ticket"));
}

http_response with_bad_ticket(const request_context& c) {
    auto response = answer_problem(c, problems::invalid_token,
                                   "The ticket is unknown, used or expired. Request another one.");
    return logged_as(challenged(std::move(response), "Bearer error=\"invalid_token\""), auth_failed,
                     "unknown-ticket");
}

maybe_response forbidden(const request_context& c) {
    const std::string_view why = forbids(c);
    if (why.empty()) return std::nullopt;
    auto response = answer_problem(c, problems::insufficient_scope, why);
    return logged_as(challenged(std::move(response), "Bearer error=\"insufficient_scope\""),
                     auth_failed, "wrong-scope");
}

// Returns the path of a URL without a query.
std::string_view path_of(std::string_view url) {
    const std::size_t scheme = url.find("://");
    const std::size_t path = scheme == url.npos ? url.npos : url.find('/', scheme + 3);
    return path == url.npos ? std::string_view() : url.substr(path);
}

authenticator::reader reader_of(engine& engine) {
    return [&engine](const digest& token_hash) { return engine.ask(find_principal{token_hash}); };
}

}  // namespace

class service::impl {
  public:
    impl(engine& engine, reaper& reaper, clock& clock, entropy& entropy, service_options options,
         service_hooks hooks)
        : hooks_(std::move(hooks)),
          tokens_(reader_of(engine), options.principals_max),
          sync_(std::move(options.sync)),
          turnstile_(clock, sync_.turnstile),
          clients_(options.principals_max),
          sessions_(options.principals_max, clock),
          registrations_(sync_.registrations_per_hour),
          snapshots_(engine, clock, sync_.snapshot_bytes_max),
          lists_(engine, clock, entropy),
          feed_(options.feed),
          followers_(clock, feed_),
          pages_(engine, clock),
          tickets_(clock),
          webhook_options_(options.webhooks),
          remote_(std::move(options.remote)),
          web_options_(options.web),
          clock_(clock),
          root_(path_of(options.api.public_url)),
          cors_(std::move(options.api.cors_origins)),
          rates_(options.api.account_requests_per_minute),
          master_(std::move(options.master_key)),
          jobs_{engine, entropy, master_.get(), board_},
          backups_(jobs_, std::move(options.backups), clock),
          deliverer_(engine, clock, entropy, pages_, webhook_options_, master_.get(),
                     sync_.key_attribute),
          contexts_{
              {engine, jobs_, entropy, clock, lists_, sync_.key_attribute, options.api.public_url,
               options.api.speaks_tls},
              {engine, clock, feed_, followers_, pages_, sync_.key_attribute, entropy, tickets_},
              {engine, clock, entropy, master_.get(), webhook_options_, deliverer_.calls(),
               deliverer_},
              {engine, jobs_, clock, sync_, turnstile_, clients_, sessions_, registrations_,
               snapshots_},
              {engine, jobs_, reaper, clock, entropy, late_retries_, remote_, backups_},
              {engine, hooks_, all_routes()},
              {web_options_}},
          events_(engine.events().subscribe([this](const event& happened) { follow(happened); })) {}

    // Returns the header's data, read before the body arrived, or read now.
    std::shared_ptr<const request_head> head_of(const http_request& request) const {
        if (!request.notes) return read_head(request, sync_);
        return std::static_pointer_cast<const request_head>(request.notes);
    }

    // Authenticates and authorises the caller. Returns a response if that fails.
    // `ends_ticket`: a ticket is used up.
    awaitable<maybe_response> authenticate(request_context& c, bool ends_ticket) {
        if (!c.head.token) {
            const std::string ticket = ticket_of(c);
            if (ticket.empty()) co_return without_token(c);
            const auto holder = ends_ticket ? tickets_.take(ticket) : tickets_.find(ticket);
            if (!holder) co_return with_bad_ticket(c);
            c.who = *holder;
        } else if (const principal* known = tokens_.remembered(*c.head.token)) {
            c.who = *known;
        } else {
            const auto read = co_await tokens_.ask(*c.head.token);
            if (!read) co_return answer_error(c, read.error());
            if (*read) c.who = **read;
            if (!*read || c.who.revoked) co_return with_bad_token(c);
        }
        if (c.who.expires_at && *c.who.expires_at <= clock_.now()) co_return with_old_token(c);
        if (c.who.state != account_state::active) {
            co_return challenged(answer_problem(c, problems::account_disabled,
                                                "An operator can enable the account."),
                                 "Bearer");
        }
        co_return forbidden(c);
    }

    // Returns whether the body may come. Tokens and clients found here are cached for the handler.
    awaitable<net::admission> admit(request_context& c) {
        const access needs = c.head.route->needs;
        if (needs == access::anyone) co_return net::admission{};
        const bool is_sync = needs == access::device;
        net::admission given;
        if (is_sync) {
            given = co_await admit_to_sync(contexts_.sync, c);
        } else {
            given.rejected = co_await authenticate(c, false);
            given.payer = payer_of(c.who);
        }
        if (!given.rejected && comes_in_vain(c, given.payer)) {
            const boost::system::error_code why = errc::overloaded;
            given.rejected = is_sync ? fail_sync(why) : answer_error(c, why);
        }
        co_return given;
    }

    // Returns whether a large body exceeds its account's share. A small one arrives before it could
    // be rejected, and an operator's counts on the account that the body names.
    bool comes_in_vain(const request_context& c, payer pays) {
        if (pays == payer::operators()) return false;
        const std::string_view field =
            header_of(c.request, boost::beast::http::field::content_length);
        std::size_t announced = 0;
        std::from_chars(field.data(), field.data() + field.size(), announced);
        if (announced <= unread_body_bytes_max) return false;
        return contexts_.sync.engine.would_reject({pays, {.bytes = announced}});
    }

    // Large bodies are for known callers: an invented client ID or token must not use up their
    // memory.
    net::body_limits body_limits_of(std::size_t usual_bytes_max, const request_head& head) const {
        const body takes = head.route ? head.route->takes : body::none;
        if (takes == body::message) return {.bytes_max = usual_bytes_max};
        if (takes == body::none) {
            return {.bytes_max = std::min(usual_bytes_max, unread_body_bytes_max)};
        }
        const std::size_t large =
            takes == body::segment ? sync_.segment_bytes_max : sync_.snapshot_bytes_max;
        if (head.route->needs == access::device) {
            return sync_body_limits(contexts_.sync, usual_bytes_max, large, *head.route, head);
        }
        const principal* const who = head.token ? tokens_.remembered(*head.token) : nullptr;
        const bool is_operator = who && !who->account && who->scope == token_scope::admin;
        return {.bytes_max = is_operator ? large : usual_bytes_max};
    }

    const cors& pages() const noexcept { return cors_; }

    // Makes Location absolute within public_url. Not for what is stored: the URL may have changed
    // by the time of a retry.
    void link(http_response& response) const {
        if (root_.empty()) return;
        for (auto& [name, value] : response.headers) {
            if (name == "Location") value.insert(0, root_);
        }
    }

    // Compresses a response if its client accepts that. Large ones at the account's expense, off
    // the network thread; if the pool is full, the response is sent as it is.
    awaitable<void> compress(const request_context& c, http_response& response) {
        if (!choose_coding(c, response)) co_return;
        auto pack = [&response] { return wire::gzipped(response.body); };
        const bool is_little = response.body.size() <= packed_at_once_max;
        const bool is_open = !c.head.route || c.head.route->is_open();
        const payer who = is_open ? payer::anonymous() : payer_of(c.who);
        const claim asks{who, {.bytes = response.body.size()}};
        auto packed =
            co_await contexts_.rest.engine.offload_unless(is_little, asks, std::move(pack));
        if (!packed) co_return;
        response.body = *std::move(packed);
        response.headers.emplace_back("Content-Encoding", "gzip");
    }

    // Counts a request of the account. Returns the response if it exceeds the limit. `limited` is
    // filled in for show_limit().
    maybe_response count(request_context& c, std::optional<rate_limits::state>& limited) {
        if (!rates_.is_on() || !c.who.account) return std::nullopt;
        limited = rates_.take(*c.who.account, clock_.elapsed());
        if (limited->allowed) return std::nullopt;
        auto response = answer_problem(c, problems::rate_limited,
                                       "The account's limit of requests per minute is reached; "
                                       "RateLimit has the remaining quota.");
        set_retry_after(response, limited->retry_in);
        return logged_as(std::move(response), "rate-limited", "account-requests");
    }
    void show_limit(const rate_limits::state& limited, http_response& response) const {
        response.headers.emplace_back("RateLimit-Policy", rates_.policy());
        response.headers.emplace_back("RateLimit", rate_limits::field_of(limited));
    }

    // Adds what is known of the request to the response's facts.
    static void tell(const request_context& c, http_response& response) {
        net::request_facts& facts = response.facts;
        if (c.head.route) facts.route = c.head.route->path;
        const bool is_sync = !c.device_name.empty() || !c.account_name.empty();
        facts.account = is_sync ? c.account_name : c.who.account_name;
        facts.caller = is_sync ? c.device_name : c.who.name;
    }

    void follow(const event& happened) {
        tokens_.follow(happened);
        clients_.follow(happened);
        pages_.follow(happened);
        followers_.follow(happened);
        tickets_.follow(happened);
        deliverer_.follow(happened);
        const auto* const retry = std::get_if<events::retry_seen>(&happened);
        if (retry && retry->found == slot_state::failed) ++late_retries_;
    }

    service_hooks hooks_;
    mutable authenticator tokens_;
    sync_options sync_;
    turnstile turnstile_;
    known_clients clients_;
    sync_sessions sessions_;
    registrations registrations_;
    jobs::server_snapshots snapshots_;
    jobs::ordered_lists lists_;
    feed_options feed_;
    followers followers_;
    jobs::feed_pages pages_;
    tickets tickets_;
    const jobs::webhook_options webhook_options_;
    const remote_support remote_;
    const web_options web_options_;
    callsign::clock& clock_;
    const std::string root_;  // path of public_url, without a slash at its end
    cors cors_;
    rate_limits rates_;
    std::shared_ptr<const seal::key_ring> master_;
    jobs::board board_;
    jobs::context jobs_;
    jobs::backups backups_;
    jobs::webhook_deliverer deliverer_;
    std::int64_t late_retries_ = 0;
    contexts contexts_;
    hub::subscription events_;
};

service::service(engine& engine, reaper& reaper, clock& clock, entropy& entropy,
                 service_options options, service_hooks hooks)
    : impl_(std::make_unique<impl>(engine, reaper, clock, entropy, std::move(options),
                                   std::move(hooks))) {}

service::~service() = default;

awaitable<http_response> service::handle(http_request request) {
    auto head = impl_->head_of(request);
    request_context c(std::move(request), std::move(head));
    std::optional<rate_limits::state> limited;
    maybe_response response = impl_->pages().preflight(c.request);
    if (response) {
        impl_->tell(c, *response);
        co_return std::move(*response);
    }
    if (c.head.reject) {
        response = c.head.reject(c);
    } else if (!c.head.route->is_open()) {
        // HEAD reads nothing that a ticket is for.
        response = co_await impl_->authenticate(c, c.request.method() != verb::head);
        if (!response) c.pays(payer_of(c.who));
        if (!response) response = impl_->count(c, limited);
        if (!response) response = read_request_key(c);
    }
    if (!response) {
        response = co_await c.head.route->run(impl_->contexts_, c);
        impl_->link(*response);
    }
    co_await impl_->compress(c, *response);
    if (limited) impl_->show_limit(*limited, *response);
    impl_->tell(c, *response);
    co_return std::move(*response);
}

net::body_limits service::body_limits_of(const net::http_header& header,
                                         std::size_t usual_bytes_max) const {
    auto head = read_head(header, impl_->sync_);
    net::body_limits terms = impl_->body_limits_of(usual_bytes_max, *head);
    if (terms.too_large && head->route) terms.too_large->facts.route = head->route->path;
    terms.notes = std::move(head);
    return terms;
}

awaitable<net::admission> service::admit(http_request request) {
    auto head = impl_->head_of(request);
    request_context c(std::move(request), std::move(head));
    net::admission given;
    if (c.head.reject) {
        given.rejected = c.head.reject(c);
    } else {
        given = co_await impl_->admit(c);
    }
    if (given.rejected) impl_->tell(c, *given.rejected);
    co_return given;
}

void service::complete(const net::http_header& request, http_response& answer) const {
    impl_->pages().admit(request, answer);
}

std::size_t service::follower_count() const noexcept {
    return impl_->followers_.count();
}

void service::stop_followers() {
    impl_->followers_.stop();
}

void service::start_webhooks(net::outgoing& calls, std::shared_ptr<net::body_budget> bodies,
                             const boost::asio::any_io_executor& executor) {
    impl_->deliverer_.start(calls, std::move(bodies), executor);
}

awaitable<void> service::stop_webhooks() {
    return impl_->deliverer_.stop();
}

jobs::delivery_counts service::webhook_deliveries() const noexcept {
    return impl_->deliverer_.counts();
}

jobs::backups& service::backups() noexcept {
    return impl_->backups_;
}

awaitable<result<jobs::resealed>> service::reseal_secrets() {
    return jobs::reseal_all(impl_->jobs_);
}

awaitable<result<std::int64_t>> service::finish_conversions() {
    return jobs::finish_conversions(impl_->jobs_);
}

awaitable<bool> service::can_decrypt_devices() {
    engine& engine = impl_->contexts_.ops.engine;
    const auto found = co_await engine.ask(find_device_with_key{});
    if (!found || !*found) co_return true;
    co_return jobs::open_device_key(impl_->master_.get(), **found) != nullptr;
}

std::string make_token(entropy& source) {
    seal::secret_bytes bits(32);
    source.fill(bits.writable());
    const auto* const text = reinterpret_cast<const char*>(bits.bytes().data());
    return "cs_" + to_base64url({text, bits.size()});
}

}  // namespace callsign::api
