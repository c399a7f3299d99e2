#include <callsign/domain/claim.hpp>

namespace callsign {
namespace {

// Of an account that may not be known yet: a client that may register is a stranger.
payer known_or_stranger(account_id account) {
    return account.value > 0 ? payer(account) : payer::strangers();
}

// An account that came from a token or a look-up; 0 stands for one that is not there, whose command
// is refused by its rule.
payer known_or_operators(account_id account) {
    return account.value > 0 ? payer(account) : payer::operators();
}

std::size_t bytes_of(const attributes& all) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : all) bytes += name.size() + value.size();
    return bytes;
}

}  // namespace

claim claim_of(const reserve& c) {
    return {known_or_operators(c.account), {.bytes = c.key.size() + c.prefix.size()}};
}

claim claim_of(const fulfil& c) {
    return {payer::operators(), {.bytes = bytes_of(c.attributes)}};
}

claim claim_of(const reconcile_pending& c) {
    return {payer::house(), {.rows = static_cast<std::size_t>(c.limit)}};
}

// Slots, and side versions as many again.
claim claim_of(const forget_settled& c) {
    return {payer::house(), {.rows = 2 * static_cast<std::size_t>(c.limit)}};
}

claim claim_of(const look_up_slot& c) {
    return {known_or_operators(c.account), {.bytes = c.key.size()}};
}

claim claim_of(const create_account&) {
    return {payer::operators(), {}};
}

claim claim_of(const create_token&) {
    return {payer::operators(), {}};
}

claim claim_of(const revoke_token& c) {
    return {known_or_operators(c.account.value_or(account_id{})), {}};
}

claim claim_of(const create_series& c) {
    return {known_or_operators(c.account), {}};
}

// It looks through the devices there are.
claim claim_of(const create_device& c) {
    return {known_or_operators(c.account), {.rows = c.active_max}};
}

claim claim_of(const revoke_device& c) {
    return {known_or_operators(c.account), {}};
}

// One more: the version itself, which may have none.
claim claim_of(const add_version& c) {
    return {known_or_operators(c.account),
            {.bytes = c.bytes, .operations = 1 + c.operations.size()}};
}

claim claim_of(const manage_account& c) {
    return {known_or_operators(c.account),
            {.bytes = c.bytes, .operations = 1 + c.history.size() + c.tasks.size()}};
}

claim claim_of(const edit_task& c) {
    return {known_or_operators(c.account), {.bytes = c.bytes, .operations = 1 + c.changes.size()}};
}

// Each is a task and its operations on the chain.
claim claim_of(const import_tasks& c) {
    return {known_or_operators(c.account),
            {.bytes = c.bytes, .operations = 1 + 2 * c.tasks.size()}};
}

claim claim_of(const add_sealed_version& c) {
    return {known_or_stranger(c.account), {.bytes = c.segment.size()}};
}

claim claim_of(const add_sealed_snapshot& c) {
    return {known_or_stranger(c.account), {.bytes = c.bytes.size()}};
}

claim claim_of(const register_client&) {
    return {payer::operators(), {}};
}

claim claim_of(const import_sealed_version& c) {
    return {payer::operators(), {.bytes = c.segment.size()}};
}

claim claim_of(const import_sealed_snapshot& c) {
    return {payer::operators(), {.bytes = c.bytes.size()}};
}

claim claim_of_any(const command& c) {
    return std::visit([](const auto& of) { return claim_of(of); }, c);
}

}  // namespace callsign
