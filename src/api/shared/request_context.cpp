#include "request_context.hpp"

#include <callsign/wire/parameters.hpp>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <utility>

namespace callsign::api {

request_context::request_context(http_request asked, std::shared_ptr<const request_head> read)
    : request(std::move(asked)), kept_head(std::move(read)) {
    for (std::size_t i = 0; i < captured.size(); ++i) {
        captured[i] = request.path().substr(head.captured[i].begin, head.captured[i].size);
    }
}

account_ref request_context::owner() const {
    if (head.route->needs == access::operators) return wire::percent_decoded(captured[0]);
    return account();
}

actor request_context::by() const {
    return {who.token, who.name, who.account, net::to_string(request.client_address)};
}

std::string request_context::named() const {
    return wire::percent_decoded(captured[1].empty() ? captured[0] : captured[1]);
}

std::string_view header_of(const net::http_header& request, boost::beast::http::field name) {
    const auto found = request.find(name);
    if (found == request.end()) return {};
    return {found->value().data(), found->value().size()};
}

std::string list_of(const net::http_header& request, boost::beast::http::field name) {
    std::string list;
    const auto [first, last] = request.equal_range(name);
    for (auto field = first; field != last; ++field) {
        if (!list.empty()) list += ", ";
        list.append(field->value().data(), field->value().size());
    }
    return list;
}

bool is_coded(const net::http_header& request) {
    const auto [first, last] = request.equal_range(boost::beast::http::field::content_encoding);
    return std::any_of(first, last, [](const auto& field) {
        return !field.value().empty() && !boost::beast::iequals(field.value(), "identity");
    });
}

}  // namespace callsign::api
