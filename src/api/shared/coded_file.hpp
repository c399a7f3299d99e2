#pragma once
// A text or file that is stored plain and compressed.

#include <string_view>

namespace callsign::api {

// Views of what outlives every response.
struct coded_file {
    std::string_view content_type;
    std::string_view hash;  // of its bytes
    std::string_view bytes;
    std::string_view gzip;
};

}  // namespace callsign::api
