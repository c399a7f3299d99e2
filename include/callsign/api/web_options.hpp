#pragma once
// Options of the web page, at / and at each key's address.

namespace callsign::api {

struct web_options {
    // false: its routes do not exist.
    bool enabled = true;
};

}  // namespace callsign::api
