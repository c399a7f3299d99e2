#pragma once
// result<T>: a T, or an errc for broken machinery. An alias, so that it can become std::expected
// when the compiler allows. Boost 1.81 has no monadic operators: return early.

#include <callsign/base/errc.hpp>

#include <boost/system/result.hpp>

namespace callsign {

template <class T>
using result = boost::system::result<T>;

}  // namespace callsign
