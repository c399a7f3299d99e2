#pragma once
// The sources of the API's descriptions, as of the build: files of schema/.

#include <string_view>

namespace callsign::api {

std::string_view openapi_source() noexcept;  // openapi.yaml
std::string_view proto_source() noexcept;    // callsign.proto

}  // namespace callsign::api
