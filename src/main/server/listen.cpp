// The listener of requests, and the text of /metrics.

#include "../server.hpp"
#include "../setup/listen_address.hpp"
#include "../setup/open_files.hpp"
#include "../setup/process_readings.hpp"

namespace callsign {

// Fewer connections, with idle ones evicted, are better than connections that cannot be accepted.
void server::fit_connections(std::size_t files_max) {
    if (files_max == 0) return;
    std::size_t& wanted = config_.http.connections_max;
    const std::size_t possible = setup::connections_possible(files_max);
    const bool too_few = possible < wanted;
    if (too_few) wanted = possible;
    log_->log(
        too_few ? log_level::warn : log_level::info,
        too_few ? "open file limit allows fewer connections than configured"
                : "limit of open files",
        {{"open_files", std::to_string(files_max)}, {"connections_max", std::to_string(wanted)}});
}

net::http_server server::listen() {
    const std::string& where = config_.server.listen;
    try {
        net::http_options options = config_.http;
        options.behind_tls = is_behind_tls();
        return net::http_server(
            network_.get_executor(), setup::to_endpoint(where), std::move(options),
            [this](net::http_request request) { return service_.handle(std::move(request)); },
            api::rejection, request_log_,
            {.admit = [this](net::http_request head) { return service_.admit(std::move(head)); },
             .body_limits_of =
                 [this](const net::http_header& header) {
                     return service_.body_limits_of(header, config_.http.body_bytes_max);
                 },
             .complete = [this](
                             const net::http_header& header,
                             net::http_response& answer) { service_.complete(header, answer); }});
    } catch (const boost::system::system_error& e) {
        throw std::runtime_error("cannot listen on " + where + ": " + e.code().message());
    }
}

// Returns none if /metrics has its own listener.
std::function<std::string()> server::metrics_hook() {
    if (!config_.metrics.listen.empty()) return {};
    return [this] { return metrics_text(); };
}

const std::string& server::metrics_text() {
    return metrics_text_.get(clock_->elapsed(), [this] { return fresh_metrics(); });
}

std::string server::fresh_metrics() {
    metrics_.bodies_held(http_.bodies()->held());
    metrics_.followers(service_.follower_count());
    metrics_.webhooks(service_.webhook_deliveries());
    metrics_.remotes(outbox_.totals());
    const milliseconds every =
        config_.backup.directory.empty() ? milliseconds{} : config_.backup.every;
    metrics_.backups(service_.backups().tally(), every);
    metrics_.space(space_of(config_.store.data_dir));
    if (const shared_store* const shared = store_->shared()) metrics_.postgres(shared->usage());
    metrics_.process(setup::read_process());
    metrics_.ready(is_ready());
    return metrics_.text();
}

// Returns whether /readyz returns 200.
bool server::is_ready() const {
    return engine_.accepting() && engine_.holds_store() && !engine_.write_failure();
}

}  // namespace callsign
