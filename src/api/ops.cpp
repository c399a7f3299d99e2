#include "handlers.hpp"

namespace callsign::api {
namespace {

http_response text(unsigned status, std::string body) {
    http_response response;
    response.status = status;
    response.content_type = "text/plain; charset=utf-8";
    response.body = std::move(body);
    return response;
}

}  // namespace

awaitable<http_response> show_product(rooms&, call&) {
    // Programs look for how the reference server begins this line.
    http_response response = text(200, "TaskChampion sync server v" CALLSIGN_VERSION
                                       " (Callsign: every task has a number people can say)\n");
    response.headers.emplace_back("Cache-Control", "no-store, max-age=0");
    co_return response;
}

// Alive is who can answer; the store is not asked.
awaitable<http_response> show_alive(rooms&, call&) {
    co_return text(200, "alive\n");
}

awaitable<http_response> show_ready(rooms& r, call& c) {
    if (!r.engine.accepting()) co_return answer_error(c, errc::shutting_down);
    if (!r.engine.writable()) co_return answer_error(c, errc::store_damaged);
    co_return text(200, "ready\n");
}

awaitable<http_response> show_metrics(rooms& r, call&) {
    http_response response = text(200, r.hooks.metrics ? r.hooks.metrics() : std::string());
    response.content_type = "text/plain; version=0.0.4";
    co_return response;
}

}  // namespace callsign::api
