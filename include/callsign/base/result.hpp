#pragma once
// result<T>: a T, or an errc for an error of the infrastructure. An alias, so that std::expected
// can replace it. Boost 1.81 has no monadic operations: return early.

#include <callsign/base/errc.hpp>

#include <boost/system/result.hpp>

namespace callsign {

template <class T>
using result = boost::system::result<T>;

}  // namespace callsign
