#pragma once
// A listener that serves /metrics only, for metrics.listen.

#include <callsign/net/http.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>

namespace callsign {

// `text` and `probe` outlive it. Null: `where` is empty. Throws std::runtime_error: nothing can
// listen there.
std::unique_ptr<net::http_server> listen_for_metrics(const boost::asio::any_io_executor& executor,
                                                     const std::string& where,
                                                     std::function<std::string()> text,
                                                     net::http_probe& probe);

// A response with the text of all metrics.
net::http_response metrics_response(std::string text);

}  // namespace callsign
