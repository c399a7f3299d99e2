#pragma once
// Commands that take effect once for each idempotency key (domain/request_key.hpp).

#include "room.hpp"

#include <callsign/ports/tables/devices.hpp>
#include <callsign/ports/tables/webhooks.hpp>
#include <callsign/rules/rows/requests.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rules.hpp>

#include <optional>
#include <utility>

namespace callsign::rules {

// Returns the answer to a request that repeats an earlier one, as `again` makes it of that one's
// outcome, or that its key was used with another request; none: the request is new.
template <class Answer, class Again>
std::optional<Answer> answer_if_known(read_tx& tx, account_id account,
                                      const std::optional<request_key>& once, const Again& again) {
    if (!once) return std::nullopt;
    const auto known = requests::find(tx, account, once->key);
    if (!known) return std::nullopt;
    if (known->fingerprint != once->fingerprint) return Answer(key_conflict{});
    return std::optional<Answer>(again(*known));
}

// As answer_if_known(): the webhook as it is now.
template <class Answer>
std::optional<Answer> repeated_webhook(read_tx& tx, account_id account,
                                       const std::optional<request_key>& once) {
    return answer_if_known<Answer>(tx, account, once, [&](const kept_request& known) -> Answer {
        const auto its = tx.get<webhooks_by_id>(webhook_id{known.subject});
        if (!its) return no_such_webhook{};
        return replayed<webhook>{*its, known.sealed};
    });
}

// As answer_if_known(): the token as it is now.
template <class Answer>
std::optional<Answer> repeated_token(read_tx& tx, account_id payer,
                                     const std::optional<request_key>& once) {
    return answer_if_known<Answer>(tx, payer, once, [&](const kept_request& known) -> Answer {
        auto made = tokens::find(tx, token_id{known.subject});
        if (!made) return create_token::has_ended{};
        return replayed<token>{*std::move(made), known.sealed};
    });
}

// As answer_if_known(): the device as it is now.
inline std::optional<create_device::answer> repeated_device(
    read_tx& tx, account_id account, const std::optional<request_key>& once) {
    return answer_if_known<
        create_device::answer>(tx, account, once, [&](const kept_request& known) {
        return replayed<device>{*tx.expect<devices_by_id>(device_id{known.subject}), known.sealed};
    });
}

// Returns false, and notifies the operator, if the account is too full to keep the outcome of the
// request besides `more` bytes.
inline bool has_room_to_keep(write_tx& tx, account_id account,
                             const std::optional<request_key>& once, const moment& m,
                             std::size_t more = 0) {
    if (once) more += size_of_outcome(once->key, once->sealed);
    return more == 0 || account == account_id{} || has_room(tx, account, more, m);
}

// Keeps the outcome of a new request, if it has a key. `subject`, `seq`: as in kept_request.
inline void keep_outcome(write_tx& tx, account_id account, const std::optional<request_key>& once,
                         std::int64_t subject, std::int64_t seq, const moment& m) {
    if (!once) return;
    requests::put(tx, {account, once->key, once->fingerprint, m.now, subject, seq, once->sealed});
}

}  // namespace callsign::rules
