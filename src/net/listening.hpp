#pragma once
// Opens a listening socket.

#include <callsign/base/time.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>

namespace callsign::net {

// After a process was killed, its address stays in use until the kernel has closed its sockets.
// Binding is tried again after each pause, for a second in all.
inline constexpr milliseconds bind_pause{20};
inline constexpr int bind_tries_max = 51;

// Throws boost::system::system_error: the address is still in use after the last try, or binding
// fails for another reason. `pause` waits for as long as it is given.
boost::asio::ip::tcp::acceptor listen_on(const boost::asio::any_io_executor& executor,
                                         const boost::asio::ip::tcp::endpoint& endpoint,
                                         const std::function<void(milliseconds)>& pause);

}  // namespace callsign::net
