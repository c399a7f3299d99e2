#pragma once
// The page for people, at / and at each key's own address.

namespace callsign::api {

struct web_options {
    // false: its paths are not there.
    bool enabled = true;
};

}  // namespace callsign::api
