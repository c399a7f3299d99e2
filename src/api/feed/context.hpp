#pragma once
// Context of the feed's handlers. Outlives every request.

#include "followers.hpp"
#include "pages.hpp"

#include <callsign/engine/engine.hpp>

#include <string>

namespace callsign::api {

struct feed_context {
    callsign::engine& engine;
    callsign::clock& clock;
    const feed_options& options;
    api::followers& followers;
    feed_pages& pages;
    const std::string& key_attribute;  // attribute for tasks' keys; empty: none
};

}  // namespace callsign::api
