#include "once.hpp"
#include "resolve.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/instance.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tokens.hpp>

namespace callsign::rules {

find_account::answer read(read_tx& tx, const find_account& q) {
    auto found = resolve(tx, q.account);
    return found ? std::optional(accounts::shown(tx, *std::move(found))) : std::nullopt;
}

list_accounts::answer read(read_tx& tx, const list_accounts& q) {
    auto some = accounts::some(tx, account_id{q.page.after}, q.page.size + 1);
    for (account& each : some) each = accounts::shown(tx, std::move(each));
    return page_from(std::move(some), q.page);
}

list_series::answer read(read_tx& tx, const list_series& q) {
    const auto owner = resolve(tx, q.account);
    if (!owner) return std::nullopt;
    std::vector<series> all = all_series::of(tx, owner->id);
    for (series& each : all) each = at_instant(numbers::with_last(tx, std::move(each)), q.now);
    return page_from(std::move(all), q.page);
}

find_principal::answer read(read_tx& tx, const find_principal& q) {
    return tokens::find_principal(tx, q.token_hash);
}

find_repeated_token::answer read(read_tx& tx, const find_repeated_token& q) {
    account_id payer{};
    if (q.account) {
        const auto owner = resolve(tx, *q.account);
        if (!owner) return std::nullopt;
        payer = owner->id;
    }
    return repeated_token<find_repeated_token::answer::value_type>(tx, payer, q.once);
}

list_tokens::answer read(read_tx& tx, const list_tokens& q) {
    if (!q.account) return page_from(tokens::of(tx, std::nullopt), q.page);
    const auto owner = resolve(tx, *q.account);
    if (!owner) return std::nullopt;
    return page_from(tokens::of(tx, owner->id), q.page);
}

find_instance::answer read(read_tx& tx, const find_instance& /*unused*/) {
    return instance_of(tx);
}

}  // namespace callsign::rules
