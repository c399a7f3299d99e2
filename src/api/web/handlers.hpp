#pragma once
// The page for people: files that are part of the program, the same for everyone, and answered from
// memory. They say nothing of this instance; what the page shows it asks the API for, with the
// token of the person who reads it.

#include "contexts.hpp"
#include "request_context.hpp"

namespace callsign::api {

// Whether the first capture names a task, by UUID or by key: such a path is the page's.
bool is_task_ref(const captures& captured);

// To a browser the page, to programs one line that says what this is.
awaitable<http_response> show_front(web_context& w, request_context& c);
// The page again; it opens the task that its address names.
awaitable<http_response> show_page(web_context& w, request_context& c);
awaitable<http_response> show_asset(web_context& w, request_context& c);

}  // namespace callsign::api
