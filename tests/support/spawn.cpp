#include "support/spawn.hpp"

#include <boost/asio/co_spawn.hpp>

namespace callsign::testing {

void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> work,
           std::function<void(std::exception_ptr)> ended) {
    boost::asio::co_spawn(executor, std::move(work), std::move(ended));
}

void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> work) {
    spawn(executor, std::move(work), [](const std::exception_ptr& e) {
        if (e) std::rethrow_exception(e);
    });
}

}  // namespace callsign::testing
