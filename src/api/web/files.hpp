#pragma once
// The files of src/web, as they were when this was built.

#include <span>
#include <string_view>

namespace callsign::api {

struct web_file {
    std::string_view name;
    std::string_view content_type;
    std::string_view hash;  // of its bytes
    std::string_view bytes;
    std::string_view gzip;  // the same, packed
};

// The page itself, which names all others.
const web_file& web_page() noexcept;
// What it consists of, at /assets/VERSION/NAME.
std::span<const web_file> web_assets() noexcept;
// Another one whenever one of them is another: what a browser has kept of it stays right for ever.
std::string_view web_version() noexcept;

}  // namespace callsign::api
