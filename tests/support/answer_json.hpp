#pragma once
// JSON of REST responses, read with another parser than the server's own.

#include <callsign/net/http.hpp>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <string>

namespace callsign::testing {

inline boost::json::object body_of(const net::http_response& response) {
    return boost::json::parse(response.body).as_object();
}

inline std::string text_of(const boost::json::value& v) {
    return {v.as_string().data(), v.as_string().size()};
}

// Of a problem response.
inline std::string code_of(const net::http_response& response) {
    return text_of(body_of(response).at("code"));
}

}  // namespace callsign::testing
