#include "auth.hpp"

#include <boost/beast/http/field.hpp>
#include <utility>

namespace callsign::api {
namespace {

// Maximum reads of one token while others are being revoked.
constexpr int reads_max = 4;

}  // namespace

std::optional<std::string_view> bearer_token(const net::http_header& request) {
    const auto field = request.find(boost::beast::http::field::authorization);
    if (field == request.end()) return std::nullopt;
    std::string_view value{field->value().data(), field->value().size()};
    constexpr std::string_view scheme = "bearer ";
    if (value.size() < scheme.size()) return std::nullopt;
    for (std::size_t i = 0; i < scheme.size(); ++i) {
        if ((value[i] | 0x20) != scheme[i]) return std::nullopt;
    }
    value.remove_prefix(scheme.size());
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    return value;
}

const principal* authenticator::remembered(const digest& token_hash) {
    if (const auto found = young_.find(token_hash); found != young_.end()) return &found->second;
    const auto found = old_.find(token_hash);
    if (found == old_.end()) return nullptr;
    const principal who = found->second;
    old_.erase(found);
    remember(token_hash, who);
    return &young_.find(token_hash)->second;
}

boost::asio::awaitable<result<std::optional<principal>>> authenticator::ask(digest token_hash) {
    for (int left = reads_max;; --left) {
        const std::uint64_t revocations = revocations_;
        auto reading = read_(token_hash);
        result<std::optional<principal>> who = co_await std::move(reading);
        // Unknown tokens are not cached: clients could fill the memory with them. Nor are revoked
        // ones.
        if (!who || !*who || (*who)->revoked) co_return who;
        if (revocations == revocations_) {
            remember(token_hash, **who);
            co_return who;
        }
        if (left == 1) co_return errc::overloaded;
    }
}

// A principal includes its account's mode and state.
void authenticator::follow(const event& happened) {
    const bool concerns = std::holds_alternative<events::token_revoked>(happened) ||
                          std::holds_alternative<events::account_managed>(happened) ||
                          std::holds_alternative<events::account_state_changed>(happened) ||
                          std::holds_alternative<events::account_renamed>(happened) ||
                          std::holds_alternative<events::outcome_lost>(happened);
    if (concerns) forget_all();
}

void authenticator::forget_all() {
    ++revocations_;
    young_.clear();
    old_.clear();
}

void authenticator::remember(const digest& token_hash, const principal& who) {
    if (young_.size() >= half_max_) old_ = std::exchange(young_, {});
    young_.insert_or_assign(token_hash, who);
}

}  // namespace callsign::api
