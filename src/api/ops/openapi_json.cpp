#include "openapi.hpp"

#include <callsign/base/text.hpp>
#include <callsign/wire/media_types.hpp>

#include <boost/json.hpp>
#include <charconv>
#include <yaml-cpp/yaml.h>

namespace callsign::api {
namespace {

namespace json = boost::json;

json::value scalar_of(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    const bool is_quoted = node.Tag() == "!";
    if (is_quoted) return json::string(text);
    if (text == "true") return true;
    if (text == "false") return false;
    if (const auto whole = parse_integer(text)) return *whole;
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec == std::errc() && read.ptr == end) return number;
    return json::string(text);
}

json::value value_of(const YAML::Node& node) {
    switch (node.Type()) {
    case YAML::NodeType::Map: {
        json::object all;
        for (const auto& member : node) all[member.first.Scalar()] = value_of(member.second);
        return all;
    }
    case YAML::NodeType::Sequence: {
        json::array all;
        for (const auto& each : node) all.push_back(value_of(each));
        return all;
    }
    case YAML::NodeType::Scalar: return scalar_of(node);
    default: return nullptr;
    }
}

// Removes the other media types of each body that can be JSON.
void keep_json(json::value& value) {
    if (auto* const all = value.if_array()) {
        for (json::value& each : *all) keep_json(each);
    } else if (auto* const object = value.if_object()) {
        const auto content = object->find("content");
        if (content != object->end() && content->value().is_object()) {
            json::object& bodies = content->value().get_object();
            const auto found = bodies.find(wire::media_type::json);
            if (found != bodies.end()) {
                json::object alone{{found->key(), std::move(found->value())}};
                bodies = std::move(alone);
            } else {
                bodies.erase(wire::media_type::protobuf);
            }
        }
        for (auto& member : *object) keep_json(member.value());
    }
}

}  // namespace

std::string openapi_json(const std::string& yaml) {
    json::value all = value_of(YAML::Load(yaml));
    keep_json(all);
    return json::serialize(all);
}

}  // namespace callsign::api
