#pragma once
// Returns schema/openapi.yaml as of the build.

#include <string_view>

namespace callsign::api {

std::string_view openapi_text() noexcept;

}  // namespace callsign::api
