#include "listening.hpp"

namespace callsign::net {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

tcp::acceptor listen_on(const asio::any_io_executor& executor, const tcp::endpoint& endpoint,
                        const std::function<void(milliseconds)>& pause) {
    for (int tries = 1;; ++tries) {
        try {
            return tcp::acceptor(executor, endpoint, true);
        } catch (const boost::system::system_error& error) {
            const bool may_be_free_soon = error.code() == asio::error::address_in_use;
            if (!may_be_free_soon || tries == bind_tries_max) throw;
        }
        pause(bind_pause);
    }
}

}  // namespace callsign::net
