#include "coding.hpp"

#include "etags.hpp"
#include "negotiation.hpp"

#include <callsign/wire/media_types.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace callsign::api {
namespace {

constexpr std::string_view accept_encoding = "Accept-Encoding";

// A smaller response gains nothing.
constexpr std::size_t packed_bytes_min = 1024;

// Data of devices is encrypted.
bool is_compressible(const http_response& response) {
    static constexpr std::string_view types[] = {wire::media_type::json, wire::media_type::problem,
                                                 wire::media_type::protobuf,
                                                 wire::media_type::yaml};
    return response.body.size() >= packed_bytes_min && !response.has_secret &&
           std::ranges::find(types, response.content_type) != std::end(types);
}

std::string* find_header(http_response& response, std::string_view name) {
    const auto found = std::ranges::find(
        response.headers, name, [](const auto& header) { return std::string_view(header.first); });
    return found == response.headers.end() ? nullptr : &found->second;
}

bool accepts_gzip(const request_context& c) {
    return takes_gzip(list_of(c.request, boost::beast::http::field::accept_encoding));
}

}  // namespace

bool choose_coding(const request_context& c, http_response& response) {
    if (!is_compressible(response)) return false;
    if (auto* const vary = find_header(response, "Vary")) {
        if (vary->ends_with(accept_encoding)) return false;
        vary->append(", ").append(accept_encoding);
    } else {
        response.headers.emplace_back("Vary", accept_encoding);
    }
    if (!accepts_gzip(c)) return false;
    if (auto* const etag = find_header(response, "ETag")) etag->insert(0, "W/");
    return true;
}

http_response answer_file(const request_context& c, const coded_file& file,
                          std::string_view caching, std::string_view varies) {
    const bool packed = accepts_gzip(c);
    const std::string etag = "\"" + std::string(file.hash) + (packed ? "-gz\"" : "\"");
    http_response response;
    response.headers.emplace_back("ETag", etag);
    response.headers.emplace_back("Cache-Control", caching);
    response.headers.emplace_back("Vary", varies);
    if (is_known(c, etag)) {
        response.status = 304;
        return response;
    }
    response.content_type = file.content_type;
    response.body = packed ? file.gzip : file.bytes;
    if (packed) response.headers.emplace_back("Content-Encoding", "gzip");
    return response;
}

}  // namespace callsign::api
