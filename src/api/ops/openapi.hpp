#pragma once
// schema/openapi.yaml, as it was when this was built.

#include <string_view>

namespace callsign::api {

std::string_view openapi_text() noexcept;

}  // namespace callsign::api
