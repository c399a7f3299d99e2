#pragma once
// One request on its way through the house: what is known of it, and of who is asking.

#include "router.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/admin_action.hpp>
#include <callsign/domain/claim.hpp>
#include <callsign/net/http.hpp>
#include <callsign/wire/message.hpp>

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace callsign::api {

using boost::asio::awaitable;
using net::http_request;
using net::http_response;

struct request_context;
struct route;

// What TaskChampion's clients say in path and header.
struct sync_head {
    uuid client{};
    uuid version{};  // of the path, if it has one
};

// What a request's header says, read once, before its body comes.
struct request_head {
    const api::route* route = nullptr;  // none: no such path
    wire::format body_form = wire::format::json;
    wire::format answer_form = wire::format::json;
    // Says what is wrong with it, whatever the body and the caller are; null: nothing.
    http_response (*refuse)(const request_context&) = nullptr;
    // Of a client's: what it says, or the answer.
    sync_head sync;
    std::optional<http_response> sync_refused{};
};

// Lives in the frame of service::handle, and so longer than any handler it is passed to.
struct request_context {
    request_context(http_request asked, request_head read);

    http_request request;
    request_head head;
    captures captured;  // of the path, still percent-encoded
    principal who;
    // Of a sync client: as in net::request_facts.
    std::string account_name;
    std::string device_name;

    // On whose account its bodies are held from here on.
    void pays(payer who) const {
        if (request.memory) request.memory->pays(who);
    }

    // Requires: a route for accounts.
    account_id account() const {
        CALLSIGN_ASSERT(who.account);
        return *who.account;
    }
    // Whose affairs it is about: on operators' routes the account that the path begins with, else
    // the caller's own.
    account_ref owner() const;
    // For the audit log.
    actor by() const;
    // What the path names of the owner's.
    std::string named() const;
};

// The value of a header field that may be there once (net refuses it twice); empty: not there.
std::string_view header_of(const net::http_header& request, boost::beast::http::field name);
// Of one that is a list: the members of all there are (RFC 9110, 5.3).
std::string list_of(const net::http_header& request, boost::beast::http::field name);
// Whether its body has a coding (RFC 9110 section 8.4) other than identity. None is undone here.
bool is_coded(const net::http_header& request);

}  // namespace callsign::api
