#include "request_key.hpp"

#include "problem.hpp"

#include <callsign/seal/envelope.hpp>

#include <array>
#include <vector>

namespace callsign::api {
namespace {

using boost::beast::http::field;

// The key that encrypts a response's secret.
seal::key secret_key(const request_context& c, const request_key& key) {
    const digest made = sha256({"callsign response", header_of(c.request, field::authorization),
                                std::string_view("\0", 1), key.key});
    return seal::key(std::span<const std::uint8_t, seal::key_bytes>(made));
}

}  // namespace

std::variant<std::string, wire::key_missing, wire::key_malformed> parse_key_field(
    const request_context& c) {
    std::vector<std::string_view> values;
    const auto fields = c.request.equal_range("Idempotency-Key");
    for (auto f = fields.first; f != fields.second; ++f) {
        values.emplace_back(f->value().data(), f->value().size());
    }
    return wire::parse_idempotency_key(values);
}

std::optional<http_response> read_request_key(request_context& c) {
    if (c.head.route->keyed == keyed::no) return std::nullopt;
    auto key = parse_key_field(c);
    if (const auto* malformed = std::get_if<wire::key_malformed>(&key)) {
        return answer_problem(c, problems::key_malformed, malformed->detail);
    }
    auto* const text = std::get_if<std::string>(&key);
    if (!text) return std::nullopt;
    std::string token;
    if (c.head.route->keyed == keyed::secret) {
        token = bytes_of(sha256(header_of(c.request, field::authorization)));
    }
    const std::string method(c.request.method_string());
    const std::string target(c.request.target());
    constexpr std::string_view end("\0", 1);
    c.once = {std::move(*text),
              sha256({method, end, target, end, token, end, std::string_view(c.request.body())})};
    return std::nullopt;
}

void seal_secret(const request_context& c, entropy& source, std::string_view secret,
                 request_key& key) {
    std::array<std::uint8_t, seal::nonce_bytes> nonce{};
    source.fill(nonce);
    key.sealed = seal::seal_body(secret_key(c, key), uuid{}, nonce, secret);
}

std::string opened_secret(const request_context& c, const request_key& key,
                          std::string_view sealed) {
    auto opened = seal::open_body(secret_key(c, key), uuid{}, sealed);
    auto* const secret = std::get_if<std::string>(&opened);
    return secret ? std::move(*secret) : std::string();
}

http_response as_replayed(http_response response) {
    response.headers.emplace_back("Idempotent-Replayed", "true");
    return response;
}

}  // namespace callsign::api
