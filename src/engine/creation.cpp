#include "creation.hpp"

#include <callsign/base/assert.hpp>

namespace callsign {
namespace {

// But for what its reservation carries.
std::size_t content_bytes(const create_request& r) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : r.attributes) bytes += name.size() + value.size();
    return bytes;
}

}  // namespace

creation::creation(create_request request)
    : work(reserve{request.account, std::move(request.key), request.fingerprint, request.uuid,
                   request.prefix}),
      held_bytes_(price.bytes + content_bytes(request)),
      request_(std::move(request)) {}

bool creation::proceed() {
    const auto* reservation = std::get_if<reserve::answer>(&out);
    if (!reservation) return false;
    const auto* reserved = std::get_if<reserve::reserved>(reservation);
    if (!reserved) return false;
    if (reserved->resumed) retried_since_ = reserved->reserved_at;
    fulfil next{reserved->slot, std::move(request_.prefix), std::move(request_.attributes)};
    price = claim_of(next).price;
    weight = price.weight();
    what = std::move(next);
    return true;
}

create_answer creation::take_outcome() {
    if (auto* reservation = std::get_if<reserve::answer>(&out)) {
        if (auto* given = std::get_if<receipted>(reservation)) {
            if (given->replayed) retried_since_ = given->reserved_at;
            return std::move(*given);
        }
        if (auto* failed = std::get_if<slot_failed>(reservation)) {
            retried_since_ = failed->reserved_at;
            return *failed;
        }
        if (std::holds_alternative<key_conflict>(*reservation)) return key_conflict{};
        CALLSIGN_ASSERT(std::holds_alternative<unknown_series>(*reservation));
        return unknown_series{};
    }
    auto& fulfilment = std::get<fulfil::answer>(out);
    if (auto* given = std::get_if<receipted>(&fulfilment)) return std::move(*given);
    if (auto* failed = std::get_if<slot_failed>(&fulfilment)) return *failed;
    // Settled and forgotten since: with a short enough retention that happens. How it was settled
    // is not known any more; the next request with this key finds out.
    if (std::holds_alternative<fulfil::slot_missing>(fulfilment)) return in_progress{};
    CALLSIGN_ASSERT(std::holds_alternative<unknown_series>(fulfilment));
    return unknown_series{};
}

}  // namespace callsign
