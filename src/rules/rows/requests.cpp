#include <callsign/ports/tables/requests.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/requests.hpp>

#include <utility>

namespace callsign::requests {
namespace {

// Requests of operators are not an account's.
bool is_charged(const kept_request& r) noexcept {
    return r.account != account_id{};
}

}  // namespace

std::optional<kept_request> find(read_tx& tx, account_id account, std::string_view key) {
    return copy_of(tx.get<requests_by_key>(account, key));
}

void put(write_tx& tx, kept_request made) {
    tx.raise_last_moment(made.at);
    if (is_charged(made)) accounts::add_stored(tx, made.account, size_of_outcome(made), 0);
    tx.put(std::move(made));
}

std::int64_t forget_before(write_tx& tx, time_point before, std::int64_t limit) {
    std::int64_t count = 0;
    for (const auto& each : tx.all(range_of<requests_by_time>().limit(limit))) {
        if (each->at >= before) break;
        if (is_charged(*each)) accounts::add_stored(tx, each->account, 0, size_of_outcome(*each));
        tx.erase(each);
        ++count;
    }
    return count;
}

}  // namespace callsign::requests
