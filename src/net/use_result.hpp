#pragma once
// How coroutines of this room take the outcome of I/O: as a value, because an error is expected
// there.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace callsign::net {

inline constexpr auto use_result = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace callsign::net
