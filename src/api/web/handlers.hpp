#pragma once
// The web page: files that are part of the program, the same for all users, served from memory.
// They hold no data of this instance; the page requests that from the API, with the user's token.

#include "shared/request_context.hpp"

#include <callsign/api/web_options.hpp>

namespace callsign::api {

// Outlives every request.
struct web_context {
    const web_options& options;
};

// Returns whether the first capture is a UUID or a key of a task: such a path is the page's.
bool is_task_ref(const captures& captured);

// Returns the page to browsers, and one line about the program to others.
awaitable<http_response> get_front(web_context& w, request_context& c);
// Returns the page, which opens the task in its address.
awaitable<http_response> get_page(web_context& w, request_context& c);
awaitable<http_response> get_asset(web_context& w, request_context& c);

}  // namespace callsign::api
