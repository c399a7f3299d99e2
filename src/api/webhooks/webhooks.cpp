#include "handlers.hpp"
#include "shared/answers.hpp"
#include "shared/task_answers.hpp"

#include <callsign/domain/query.hpp>
#include <callsign/seal/at_rest.hpp>
#include <callsign/seal/webhook_signature.hpp>
#include <callsign/wire/cursor.hpp>
#include <callsign/wire/filter_parameters.hpp>

#include <array>

namespace callsign::api {
namespace {

constexpr std::size_t filter_bytes_max = 2048;
// How long a former secret signs, too: receivers get the new one meanwhile.
constexpr milliseconds former_secret_span{std::chrono::hours{24}};

// Returns the ID in the path; nil, which no webhook has: it is malformed.
uuid named_webhook(const request_context& c) {
    return parse_uuid(c.named()).value_or(uuid{});
}

void check_url(const webhook_context& w, const std::string& text, wire::field_errors& found) {
    const auto url = net::parse_outgoing_url(text);
    if (const auto* const why = std::get_if<std::string>(&url)) {
        add_error(found, {"url", text.empty() ? "required" : "invalid", *why});
    } else if (w.calls != nullptr && !w.calls->may_call(std::get<net::outgoing_url>(url))) {
        add_error(found, {"url", "address-not-allowed",
                          "Must not be a private, loopback or link-local address, unless an "
                          "operator allows it (webhooks.allow_addresses)."});
    }
}

std::optional<task_filter> check_filter(const std::string& text, wire::field_errors& found) {
    if (text.size() > filter_bytes_max) {
        add_error(found, {"filter", "too-long", "Must have at most 2048 bytes."});
        return std::nullopt;
    }
    wire::field_errors wrong;
    const wire::parameters asked(text, wire::with_filter_parameters({}), wrong,
                                 wire::repeatable_parameters);
    auto filter = wire::read_feed_filter(asked, wrong);
    for (wire::field_error& fault : wrong) {
        fault.field = "filter." + fault.field;
        add_error(found, std::move(fault));
    }
    return filter;
}

// An empty text is no cursor, and no error.
void check_cursor(const std::string& text, wire::field_errors& found) {
    if (text.empty() || wire::parse_cursor(text)) return;
    add_error(found, {"after", "malformed",
                      "Must be a cursor from the feed, \"0\" for the beginning, or \"now\"."});
}

// Where a feed from cursor `text` begins, or why it cannot. Requires: `text` is a cursor.
using start_or_rejection = std::variant<webhook_start, rejected>;

awaitable<result<start_or_rejection>> find_start(webhook_context& w, account_id account,
                                                 std::string text,
                                                 std::optional<task_filter> filter) {
    const auto at = wire::parse_cursor(text);
    webhook_start start{at->place, at->mark.value_or("")};
    if (at->is_now) {
        const auto head = co_await w.engine.ask(find_head{account});
        if (!head) co_return head.error();
        start.after = {head->seq};
        if (head->seq > 0) start.mark = mark_of_version(head->version);
    }
    read_changes look{.account = account,
                      .after = start.after,
                      .limit = 1,
                      .filter = std::move(filter),
                      .now = w.clock.now(),
                      .work_max = 1};
    if (!start.mark.empty()) look.mark = start.mark;
    const auto read = co_await w.engine.ask(std::move(look));
    if (!read) co_return read.error();
    if (auto why = rejection_of(*read)) co_return start_or_rejection(*std::move(why));
    co_return start_or_rejection(std::move(start));
}

// Generates a secret, which is wiped when destroyed.
seal::secret_bytes draw_secret(entropy& source) {
    seal::secret_bytes drawn(32);
    source.fill(drawn.writable());
    return drawn;
}

std::string sealed(const webhook_context& w, account_id account, const uuid& id,
                   const seal::webhook_secrets& secrets) {
    std::array<std::uint8_t, seal::nonce_bytes> nonce{};
    w.entropy.fill(nonce);
    const seal::secret_bytes all = seal::packed(secrets);
    return w.master->seal({seal::purpose::webhook_secret, account, id}, nonce, all.bytes());
}

// Returns the secret that the client chose, or a new one; nullopt: `found` has the error.
std::optional<seal::secret_bytes> chosen_secret(const webhook_context& w, const std::string& text,
                                                wire::field_errors& found) {
    if (text.empty()) return draw_secret(w.entropy);
    auto secret = seal::parse_webhook_secret(text);
    if (!secret) {
        add_error(found, {"secret", "malformed",
                          "Must be whsec_ and base64 of 24 to 64 bytes. If omitted, the server "
                          "generates a secret."});
    }
    return secret;
}

// The response to a request that sets a secret, which it contains.
http_response answer_with_secret(const request_context& c, unsigned status, const webhook& its,
                                 const std::string& secret) {
    v1::Webhook message = wire::to_message(its);
    message.set_secret(secret);
    auto response = answer_secret(c, status, message);
    seal::wipe(*message.mutable_secret());
    if (status == 201) {
        response.headers.emplace_back("Location", "/v1/webhooks/" + message.webhook_id());
    }
    return response;
}

// Returns the response to a request that is repeated. `status`: of the first.
http_response answer_again(const request_context& c, unsigned status,
                           const replayed<webhook>& again) {
    if (c.head.route->keyed != keyed::secret) {
        return as_replayed(answer_message(c, status, wire::to_message(again.first)));
    }
    std::string secret = opened_secret(c, *c.once, again.sealed);
    const seal::wiped afterwards(secret);
    return as_replayed(answer_with_secret(c, status, again.first, secret));
}

// As answer_again(); nullopt: the request is new.
awaitable<std::optional<http_response>> find_repeated(webhook_context& w, const request_context& c,
                                                      unsigned status) {
    if (!c.once) co_return std::nullopt;
    const find_repeated_webhook question{c.account(), *c.once};
    co_return co_await answer_if_repeated(
        w.engine, c, question,
        [&c, status](const replayed<webhook>& again) { return answer_again(c, status, again); });
}

// Submits a command that sets a secret.
template <class Command>
awaitable<http_response> carry_out_with_secret(webhook_context& w, request_context& c,
                                               Command command, unsigned status,
                                               const seal::secret_bytes& secret) {
    std::string text = seal::webhook_secret_text(secret.bytes());
    const seal::wiped afterwards(text);
    if (c.once) seal_secret(c, w.entropy, text, *c.once);
    command.once = c.once;
    const overloaded done{
        [&](const webhook& its) { return answer_with_secret(c, status, its, text); },
        [&](const replayed<webhook>& again) { return answer_again(c, status, again); }};
    co_return co_await carry_out(w.engine, c, std::move(command), done,
                                 [](account_is_opaque) { return unseen(); });
}

}  // namespace

awaitable<http_response> post_webhook(webhook_context& w, request_context& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    if (auto again = co_await find_repeated(w, c, 201)) co_return *std::move(again);
    wire::field_errors wrong;
    v1::CreateWebhook wanted;
    std::optional<task_filter> filter;
    std::optional<seal::secret_bytes> secret;
    const bool is_read = read_body(c, wanted, wrong);
    const seal::wiped afterwards(*wanted.mutable_secret());
    if (is_read) {
        check_url(w, wanted.url(), wrong);
        filter = check_filter(wanted.filter(), wrong);
        check_cursor(wanted.after(), wrong);
        secret = chosen_secret(w, wanted.secret(), wrong);
    }
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    if (w.master == nullptr) co_return answer_rejected(c, rejections(jobs::no_master_key{}));
    std::string from = wanted.after().empty() ? "now" : wanted.after();
    auto start = co_await find_start(w, c.account(), std::move(from), std::move(filter));
    if (!start) co_return answer_error(c, start.error());
    if (const auto* const why = std::get_if<rejected>(&*start)) co_return answer_rejected(c, *why);

    const uuid id = draw_uuid(w.entropy);
    create_webhook command{.account = c.account(),
                           .uuid = id,
                           .url = wanted.url(),
                           .filter = wanted.filter(),
                           .sealed_secret = sealed(w, c.account(), id, {secret->copy()}),
                           .start = std::get<webhook_start>(std::move(*start)),
                           .count_max = w.options.account_max};
    co_return co_await carry_out_with_secret(w, c, std::move(command), 201, *secret);
}

awaitable<http_response> get_webhooks(webhook_context& w, request_context& c) {
    wire::field_errors wrong;
    list_webhooks question{c.account(), read_page(c, wrong)};
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto found = co_await w.engine.ask(question);
    if (!found) co_return answer_error(c, found.error());
    v1::WebhookList message;
    message.set_next_page_token(next_page_token(*found));
    for (const webhook& each : found->rows) *message.add_webhooks() = wire::to_message(each);
    co_return answer_message(c, 200, message);
}

awaitable<http_response> get_webhook(webhook_context& w, request_context& c) {
    const find_webhook question{c.account(), named_webhook(c)};
    const auto found = co_await w.engine.ask(question);
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_rejected(c, rejections(no_such_webhook{}));
    co_return answer_message(c, 200, wire::to_message(**found));
}

awaitable<http_response> patch_webhook(webhook_context& w, request_context& c) {
    if (auto again = co_await find_repeated(w, c, 200)) co_return *std::move(again);
    wire::field_errors wrong;
    v1::EditWebhook wanted;
    if (read_body(c, wanted, wrong)) {
        for (const std::string& name : wanted.clear()) {
            if (name == "filter" && !wanted.has_filter()) {
                wanted.set_filter("");
            } else {
                add_error(wrong, {name, "required", "Must not be removed."});
            }
        }
        if (wanted.has_url()) check_url(w, wanted.url(), wrong);
        if (wanted.has_filter()) check_filter(wanted.filter(), wrong);
        if (wanted.has_after() && wanted.after().empty()) {
            add_error(wrong, {"after", "malformed", "Must not be empty."});
        }
        check_cursor(wanted.after(), wrong);
    }
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    edit_webhook command{.account = c.account(), .uuid = named_webhook(c)};
    command.once = c.once;
    if (wanted.has_url()) command.url = wanted.url();
    if (wanted.has_filter()) command.filter = wanted.filter();
    if (wanted.has_enabled()) command.enabled = wanted.enabled();
    if (wanted.has_after()) {
        std::string from = wanted.after();
        std::optional<task_filter> all;
        auto start = co_await find_start(w, c.account(), std::move(from), std::move(all));
        if (!start) co_return answer_error(c, start.error());
        if (const auto* const why = std::get_if<rejected>(&*start)) {
            co_return answer_rejected(c, *why);
        }
        command.start = std::get<webhook_start>(std::move(*start));
    }
    co_return co_await carry_out(w.engine, c, std::move(command), [&c](const webhook& its) {
        return answer_message(c, 200, wire::to_message(its));
    });
}

awaitable<http_response> rotate_webhook_secret(webhook_context& w, request_context& c) {
    if (auto again = co_await find_repeated(w, c, 200)) co_return *std::move(again);
    wire::field_errors wrong;
    v1::RotateSecret wanted;
    std::optional<seal::secret_bytes> secret;
    const bool is_read = read_body(c, wanted, wrong);
    const seal::wiped afterwards(*wanted.mutable_secret());
    if (is_read) secret = chosen_secret(w, wanted.secret(), wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    if (w.master == nullptr) co_return answer_rejected(c, rejections(jobs::no_master_key{}));
    const uuid id = named_webhook(c);
    const find_webhook question{c.account(), id};
    const auto found = co_await w.engine.ask(question);
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_rejected(c, rejections(no_such_webhook{}));
    const auto opened =
        w.master->open({seal::purpose::webhook_secret, c.account(), id}, (*found)->sealed_secret);
    const auto* const stored = std::get_if<seal::secret_bytes>(&opened);
    auto former = stored ? seal::unpacked(*stored) : std::nullopt;
    seal::webhook_secrets now{secret->copy()};
    // A secret that cannot be decrypted signs nothing.
    if (former) now.former = std::move(former->current);
    edit_webhook command{.account = c.account(), .uuid = id};
    command.secrets = {sealed(w, c.account(), id, now), w.clock.now() + former_secret_span,
                       (*found)->edits};
    co_return co_await carry_out_with_secret(w, c, std::move(command), 200, *secret);
}

awaitable<http_response> test_webhook(webhook_context& w, request_context& c) {
    const auto done = co_await w.deliverer.test(c.account(), named_webhook(c));
    if (!done) co_return answer_error(c, done.error());
    if (const auto* const early = std::get_if<jobs::tested_lately>(&*done)) {
        auto response = answer_problem(c, problems::rate_limited,
                                       "The account tests one webhook at a time, every 5 seconds.");
        set_retry_after(response, std::chrono::ceil<std::chrono::seconds>(early->retry_in));
        co_return logged_as(std::move(response), "rate-limited", "webhook-tests");
    }
    const auto* const attempt = std::get_if<webhook_delivery>(&*done);
    if (attempt == nullptr) co_return answer_rejected(c, rejections(no_such_webhook{}));
    co_return answer_message(c, 200, wire::to_message(*attempt));
}

awaitable<http_response> delete_webhook(webhook_context& w, request_context& c) {
    remove_webhook command{c.account(), named_webhook(c)};
    command.once = c.once;
    co_return co_await carry_out(w.engine, c, std::move(command), [](remove_webhook::removed) {
        http_response gone;
        gone.status = 204;
        return gone;
    });
}

awaitable<http_response> get_deliveries(webhook_context& w, request_context& c) {
    const list_deliveries question{c.account(), named_webhook(c)};
    const auto found = co_await w.engine.ask(question);
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_rejected(c, rejections(no_such_webhook{}));
    v1::WebhookDeliveryList message;
    for (const webhook_delivery& d : **found) *message.add_deliveries() = wire::to_message(d);
    co_return answer_message(c, 200, message);
}

}  // namespace callsign::api
