#include "negotiation.hpp"

#include <callsign/base/text.hpp>

namespace callsign::api {
namespace {

// Removes the text before the next `mark`, and the mark. Returns the text, trimmed.
std::string_view take_until(std::string_view& text, char mark) noexcept {
    const auto end = text.find(mark);
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return trimmed(taken);
}

bool same(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c; };
        if (lower(a[i]) != lower(b[i])) return false;
    }
    return true;
}

std::optional<wire::format> form_named(std::string_view media_type) noexcept {
    if (same(media_type, "application/json")) return wire::format::json;
    if (same(media_type, "application/x-protobuf") || same(media_type, "application/protobuf")) {
        return wire::format::protobuf;
    }
    return std::nullopt;
}

// Returns a weight in thousandths, for q of 0, 0.5, 1.000. A malformed one counts as 1: a response
// is more useful than 406.
int weight_of(std::string_view parameters) noexcept {
    while (!parameters.empty()) {
        std::string_view parameter = take_until(parameters, ';');
        if (!same(take_until(parameter, '='), "q")) continue;
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
        if (same(take_until(each, ';'), name)) return weight_of(each);
    }
    return 0;
}

// Weight of a format, and how specific the range was that set it.
struct liking {
    int weight = 0;
    int specific = -1;

    void hear(int said, int how_specific) noexcept {
        if (how_specific < specific || (how_specific == specific && said < weight)) return;
        weight = said;
        specific = how_specific;
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
    if (same(take_until(rest, ';'), "application/merge-patch+json")) return wire::format::json;
    return form_of_body(content_type);
}

std::optional<wire::format> form_of_answer(std::string_view accept,
                                           wire::format otherwise) noexcept {
    if (accept.empty() || accept == "*/*") return otherwise;
    liking json;
    liking protobuf;
    while (!accept.empty()) {
        std::string_view range = take_until(accept, ',');
        const std::string_view media_type = take_until(range, ';');
        const int weight = weight_of(range);
        if (const auto form = form_named(media_type)) {
            (*form == wire::format::json ? json : protobuf).hear(weight, 2);
        } else if (const bool any = media_type == "*/*"; any || same(media_type, "application/*")) {
            json.hear(weight, any ? 0 : 1);
            protobuf.hear(weight, any ? 0 : 1);
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
