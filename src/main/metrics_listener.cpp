#include "metrics_listener.hpp"

#include "setup/listen_address.hpp"

#include <callsign/api/service.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/verb.hpp>
#include <boost/system/system_error.hpp>
#include <stdexcept>
#include <utility>

namespace callsign {

using boost::beast::http::verb;

std::unique_ptr<net::http_server> listen_for_metrics(const boost::asio::any_io_executor& executor,
                                                     const std::string& where,
                                                     std::function<std::string()> text,
                                                     net::http_probe& probe) {
    if (where.empty()) return nullptr;
    // Limits for a few scrapers.
    const net::http_options few{.body_bytes_max = 1u << 10,
                                .bodies_bytes_max = 16u << 20,
                                .account_bodies_bytes_max = 16u << 20,
                                .connections_max = 16,
                                .connections_per_address_max = 16};
    auto respond = [text = std::move(text)](
                       net::http_request request) -> boost::asio::awaitable<net::http_response> {
        const bool is_get = request.method() == verb::get || request.method() == verb::head;
        if (!is_get || request.path() != "/metrics") {
            const net::rejected_request elsewhere{
                404, "no-such-path", "This listener serves /metrics only.", request.id};
            co_return api::rejection(elsewhere);
        }
        co_return metrics_response(text());
    };
    try {
        return std::make_unique<net::http_server>(executor, setup::to_endpoint(where), few,
                                                  std::move(respond), api::rejection, probe);
    } catch (const boost::system::system_error& e) {
        throw std::runtime_error("cannot listen on " + where + ": " + e.code().message());
    }
}

net::http_response metrics_response(std::string text) {
    net::http_response response;
    response.content_type = "text/plain; version=0.0.4";
    response.body = std::move(text);
    return response;
}

}  // namespace callsign
