#include "etags.hpp"

#include "coding.hpp"

#include <callsign/base/text.hpp>

#include <algorithm>

namespace callsign::api {
namespace {

using boost::beast::http::field;

bool is_etag_character(char c) noexcept {
    const auto code = static_cast<unsigned char>(c);
    return code == 0x21 || (code >= 0x23 && code != 0x7F);
}

// Removes the tag at the front of the list, with the comma after it.
std::optional<std::string_view> take_etag(std::string_view& list) {
    if (list.starts_with("W/")) list.remove_prefix(2);
    if (!list.starts_with('"')) return std::nullopt;
    const std::size_t end = list.find('"', 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view tag = list.substr(1, end - 1);
    list = trimmed(list.substr(end + 1));
    if (!list.empty() && !list.starts_with(',')) return std::nullopt;
    if (!list.empty()) list = trimmed(list.substr(1));
    return std::ranges::all_of(tag, is_etag_character) ? std::optional(tag) : std::nullopt;
}

}  // namespace

std::optional<etag_list> parse_etags(std::string_view value) {
    etag_list read;
    std::string_view rest = trimmed(value);
    if (rest == "*") {
        read.is_any = true;
        return read;
    }
    while (!rest.empty()) {
        const auto tag = take_etag(rest);
        if (!tag) return std::nullopt;
        read.tags.push_back(*tag);
    }
    return read.tags.empty() ? std::nullopt : std::optional(std::move(read));
}

std::optional<std::vector<task_tag>> read_if_match(std::string_view value, std::string_view field,
                                                   wire::field_errors& found) {
    const auto read = parse_etags(value);
    if (!read) {
        add_error(found, {std::string(field), "malformed",
                          "Must be * or ETags in double quotes, such as \"18.0f3a9c2e\"."});
        return std::nullopt;
    }
    if (read->is_any) return std::nullopt;
    std::vector<task_tag> tags;
    for (const std::string_view each : read->tags) {
        if (const auto tag = parse_task_tag(each)) tags.push_back(*tag);
    }
    return tags;
}

bool is_known(const request_context& c, std::string_view etag) {
    const std::string value = list_of(c.request, field::if_none_match);
    const auto known = parse_etags(value);
    if (!known) return false;
    const std::string_view wanted = etag.substr(1, etag.size() - 2);
    return known->is_any || std::ranges::find(known->tags, wanted) != known->tags.end();
}

http_response unless_known(const request_context& c, http_response response,
                           std::string_view etag) {
    response.headers.emplace_back("ETag", etag);
    response.headers.emplace_back("Vary", "Accept");
    if (!is_known(c, etag)) return response;
    // The headers of the response that is not sent (RFC 9110 section 15.4.5).
    choose_coding(c, response);
    response.status = 304;
    response.body.clear();
    response.content_type.clear();
    return response;
}

}  // namespace callsign::api
