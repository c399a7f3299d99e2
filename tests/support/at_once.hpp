#pragma once
// Runs offloaded work at once, on the caller's thread.

#include <callsign/domain/claim.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <functional>

namespace callsign::testing {

inline boost::asio::awaitable<boost::system::error_code> at_once(claim,
                                                                 std::function<void()> work) {
    work();
    co_return boost::system::error_code{};
}

}  // namespace callsign::testing
