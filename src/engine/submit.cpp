// Instantiates engine::submit_by for each command.

#include <callsign/engine/engine.hpp>

namespace callsign {

using boost::asio::awaitable;
using asker = std::optional<actor>;

template <class Command>
awaitable<result<typename Command::answer>> engine::submit_by(Command command, asker by) {
    callsign::command any(std::in_place_type<Command>, std::move(command));
    std::optional<answer> done;
    const auto error = co_await submit_any(std::move(any), std::move(by), done);
    if (error) co_return error;
    co_return std::get<typename Command::answer>(std::move(*done));
}

#define CALLSIGN_SUBMIT(name) \
    template awaitable<result<name::answer>> engine::submit_by(name, asker);
CALLSIGN_COMMANDS(CALLSIGN_SUBMIT)
#undef CALLSIGN_SUBMIT

}  // namespace callsign
