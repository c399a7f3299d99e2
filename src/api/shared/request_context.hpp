#pragma once
// A request and its caller.

#include "route.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/base/sha256.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/admin_action.hpp>
#include <callsign/domain/claim.hpp>
#include <callsign/domain/request_key.hpp>
#include <callsign/net/http.hpp>
#include <callsign/wire/message.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace callsign::api {

using net::http_request;

// IDs that TaskChampion's clients send in path and header.
struct sync_head {
    uuid client{};
    uuid version{};  // of the path, if it has one
};

// Data of a request's header, read once before the body arrives. Never modified.
struct request_head {
    const api::route* route = nullptr;  // none: no such path
    // Of the captures in the path. Positions, since a request may move.
    struct piece {
        std::size_t begin = 0;
        std::size_t size = 0;
    };
    std::array<piece, captures_max> captured{};
    std::optional<digest> token{};  // hash of the bearer token, if the route needs one
    wire::format body_form = wire::format::json;
    wire::format answer_form = wire::format::json;
    // Returns the response to an invalid header, whatever body and caller; null: it is valid.
    http_response (*reject)(const request_context&) = nullptr;
    // Sync routes: the client's IDs, or the response to an invalid header.
    sync_head sync;
    std::optional<http_response> sync_rejected{};
};

// Lives in the frame of service::handle, longer than any handler it is passed to.
struct request_context {
    request_context(http_request asked, std::shared_ptr<const request_head> read);

    http_request request;
    std::shared_ptr<const request_head> kept_head;
    const request_head& head = *kept_head;
    captures captured;  // of the path, still percent-encoded
    principal who;
    // The request's key, of a route with keys; none: the client sent none.
    std::optional<request_key> once;
    // Of a sync client: as in net::request_facts.
    std::string account_name;
    std::string device_name;

    // Charges the request's bodies to `who` from here on.
    void pays(payer who) const {
        if (request.memory) request.memory->pays(who);
    }

    // Requires: the route needs an account's token.
    account_id account() const {
        CALLSIGN_ASSERT(who.account);
        return *who.account;
    }
    // Returns the account that the request is about: on operator routes the one in the path,
    // otherwise the caller's own.
    account_ref owner() const;
    // Returns the caller for the audit log.
    actor by() const;
    // Returns what the path names within that account.
    std::string named() const;
};

// Returns the value of a field that may occur once (net rejects a second one); empty: absent.
std::string_view header_of(const net::http_header& request, boost::beast::http::field name);
// Returns the members of all fields of that name (RFC 9110 section 5.3).
std::string list_of(const net::http_header& request, boost::beast::http::field name);
// Returns whether the body has a coding (RFC 9110 section 8.4) but identity; none is decoded.
bool is_coded(const net::http_header& request);

}  // namespace callsign::api
