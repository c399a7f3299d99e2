#pragma once
// Which form a body is in (Content-Type) and which form the answer takes (Accept): JSON or
// protobuf. Pure.

#include <callsign/wire/message.hpp>

#include <optional>
#include <string_view>

namespace callsign::api {

// The form a Content-Type names, its parameters apart; nullopt: neither of ours. Without the field
// a body is taken for JSON.
std::optional<wire::format> form_of_body(std::string_view content_type) noexcept;

// The same, of a change by PATCH: application/merge-patch+json (RFC 7396) is JSON there.
std::optional<wire::format> form_of_patch(std::string_view content_type) noexcept;

// The form an Accept field likes best (RFC 9110 section 12.5.1: q, and the more specific range
// decides); `otherwise` where it does not care, or is absent. nullopt: neither will do.
std::optional<wire::format> form_of_answer(std::string_view accept,
                                           wire::format otherwise) noexcept;

// Whether an Accept field names web pages, as browsers' do when a person opens an address. A range
// that takes anything is a program's.
bool asks_for_page(std::string_view accept) noexcept;

// Whether an Accept-Encoding field takes gzip.
bool takes_gzip(std::string_view accept_encoding) noexcept;

}  // namespace callsign::api
