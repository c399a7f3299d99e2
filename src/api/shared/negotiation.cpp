#include "negotiation.hpp"

#include <callsign/base/text.hpp>
#include <callsign/wire/media_types.hpp>

#include <boost/beast/core/string.hpp>

namespace callsign::api {
namespace {

using boost::beast::iequals;

std::optional<wire::format> form_named(std::string_view media_type) noexcept {
    if (iequals(media_type, wire::media_type::json)) return wire::format::json;
    if (iequals(media_type, wire::media_type::protobuf) ||
        iequals(media_type, wire::media_type::protobuf_alias)) {
        return wire::format::protobuf;
    }
    return std::nullopt;
}

// Returns a weight in thousandths, for q of 0, 0.5, 1.000. A malformed one counts as 1: a response
// is more useful than 406.
int weight_of(std::string_view parameters) noexcept {
    while (!parameters.empty()) {
        std::string_view parameter = take_until(parameters, ';');
        if (!iequals(take_until(parameter, '='), "q")) continue;
        if (parameter.empty() || parameter.front() != '0') return 1000;
        int weight = 0;
        int place = 100;
        for (const char digit : parameter.substr(1)) {
            if (digit == '.') continue;
            if (digit < '0' || digit > '9') return 1000;
            weight += (digit - '0') * place;
            place /= 10;
        }
        return weight;
    }
    return 1000;
}

// Returns the weight of the item with that name in a list; 0: it is absent.
int weight_named(std::string_view list, std::string_view name) noexcept {
    while (!list.empty()) {
        std::string_view each = take_until(list, ',');
        if (iequals(take_until(each, ';'), name)) return weight_of(each);
    }
    return 0;
}

// Weight of a format, from the most specific range that includes it.
struct preference {
    int weight = 0;
    int specificity = -1;

    void add(int range_weight, int range_specificity) noexcept {
        if (range_specificity < specificity) return;
        if (range_specificity == specificity && range_weight < weight) return;
        weight = range_weight;
        specificity = range_specificity;
    }
};

}  // namespace

std::optional<wire::format> form_of_body(std::string_view content_type) noexcept {
    const std::string_view media_type = take_until(content_type, ';');
    if (media_type.empty()) return wire::format::json;
    return form_named(media_type);
}

std::optional<wire::format> form_of_patch(std::string_view content_type) noexcept {
    std::string_view rest = content_type;
    if (iequals(take_until(rest, ';'), wire::media_type::merge_patch)) return wire::format::json;
    return form_of_body(content_type);
}

std::optional<wire::format> form_of_answer(std::string_view accept,
                                           wire::format otherwise) noexcept {
    if (accept.empty() || accept == "*/*") return otherwise;
    preference json;
    preference protobuf;
    while (!accept.empty()) {
        std::string_view range = take_until(accept, ',');
        const std::string_view media_type = take_until(range, ';');
        const int weight = weight_of(range);
        if (const auto form = form_named(media_type)) {
            (*form == wire::format::json ? json : protobuf).add(weight, 2);
        } else if (const bool any = media_type == "*/*";
                   any || iequals(media_type, "application/*")) {
            json.add(weight, any ? 0 : 1);
            protobuf.add(weight, any ? 0 : 1);
        }
    }
    if (json.weight == 0 && protobuf.weight == 0) return std::nullopt;
    if (json.weight == protobuf.weight) return otherwise;
    return json.weight > protobuf.weight ? wire::format::json : wire::format::protobuf;
}

bool asks_for_page(std::string_view accept) noexcept {
    return weight_named(accept, "text/html") > 0;
}

bool takes_gzip(std::string_view accept_encoding) noexcept {
    return weight_named(accept_encoding, "gzip") > 0;
}

}  // namespace callsign::api
