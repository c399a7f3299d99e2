// Instantiates engine::ask for each query.

#include <callsign/engine/engine.hpp>
#include <callsign/rules/read.hpp>

namespace callsign {

using boost::asio::awaitable;

template <class Query>
awaitable<result<typename Query::answer>> engine::ask(Query query) {
    std::optional<typename Query::answer> found;
    std::function<void(read_tx*)> run = [&](read_tx* tx) {
        found.emplace(rules::read(*tx, query));
    };
    const claim asks = claim_of(query);
    const boost::system::error_code error = co_await run_query(asks, std::move(run));
    using answered = result<typename Query::answer>;
    if (error) co_return answered(boost::system::in_place_error, error);
    co_return answered(boost::system::in_place_value, std::move(*found));
}

#define CALLSIGN_ASK(name) \
    template awaitable<result<callsign::name::answer>> engine::ask(callsign::name);
CALLSIGN_QUERIES(CALLSIGN_ASK)
#undef CALLSIGN_ASK

}  // namespace callsign
