#pragma once
// What the handlers of the feed are given to answer with. They outlive every request.

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
    const std::string& key_attribute;  // that tasks' keys are written to; empty: none
};

}  // namespace callsign::api
