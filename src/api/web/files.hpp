#pragma once
// The files of src/web as of the build.

#include "shared/coded_file.hpp"

#include <span>
#include <string_view>

namespace callsign::api {

struct web_file {
    std::string_view name;
    coded_file content;
};

// Returns the page itself, which names all others.
const web_file& web_page() noexcept;
// Returns the files of the page, at /assets/VERSION/NAME.
std::span<const web_file> web_assets() noexcept;
// Changes whenever one of the files does, so that browsers may cache them for ever.
std::string_view web_version() noexcept;

}  // namespace callsign::api
