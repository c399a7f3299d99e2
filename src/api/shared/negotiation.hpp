#pragma once
// Formats of the body (Content-Type) and the response (Accept): JSON or protobuf. Pure.

#include <callsign/wire/message.hpp>

#include <optional>
#include <string_view>

namespace callsign::api {

// Returns the format in Content-Type, without its parameters; nullopt: another one. Without the
// field the body is JSON.
std::optional<wire::format> form_of_body(std::string_view content_type) noexcept;

// As form_of_body(), for PATCH: application/merge-patch+json (RFC 7396) is JSON, too.
std::optional<wire::format> form_of_patch(std::string_view content_type) noexcept;

// Returns the format that Accept prefers (RFC 9110 section 12.5.1: q; the more specific range
// decides), or `otherwise` without a preference or the field. nullopt: neither is acceptable.
std::optional<wire::format> form_of_answer(std::string_view accept,
                                           wire::format otherwise) noexcept;

// Returns whether Accept names web pages, as browsers' does when a user opens an address. A range
// that accepts anything does not count.
bool asks_for_page(std::string_view accept) noexcept;

// Returns whether Accept-Encoding includes gzip.
bool takes_gzip(std::string_view accept_encoding) noexcept;

}  // namespace callsign::api
