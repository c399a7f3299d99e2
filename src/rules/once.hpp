#pragma once
// Commands that take effect once for each idempotency key (domain/request_key.hpp).

#include <callsign/rules/rows/requests.hpp>
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

// Keeps the outcome of a new request, if it has a key. `subject`, `seq`: as in kept_request.
inline void keep_outcome(write_tx& tx, account_id account, const std::optional<request_key>& once,
                         std::int64_t subject, std::int64_t seq, const moment& m) {
    if (!once) return;
    requests::put(tx, {account, once->key, once->fingerprint, m.now, subject, seq, once->sealed});
}

}  // namespace callsign::rules
