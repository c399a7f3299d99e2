#pragma once
// Coroutines of this module receive the outcome of I/O as a value, since errors are expected there.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace callsign::net {

inline constexpr auto use_result = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace callsign::net
