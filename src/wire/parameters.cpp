#include <callsign/base/base64url.hpp>
#include <callsign/base/hex.hpp>
#include <callsign/base/text.hpp>
#include <callsign/wire/parameters.hpp>

#include <algorithm>

namespace callsign::wire {

namespace {

// Precedes the ID, so that tokens can be recognised and their form can change.
constexpr std::string_view token_form = "after:";

std::optional<std::int64_t> read_page_token(std::string_view token) {
    const auto text = from_base64url(token);
    if (!text || !text->starts_with(token_form)) return std::nullopt;
    const auto id = parse_integer(std::string_view(*text).substr(token_form.size()));
    return id && *id >= 0 ? id : std::nullopt;
}

}  // namespace

std::string percent_decoded(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool whole = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                           hex_value(text[i + 2]) >= 0;
        if (!whole) {
            decoded += text[i];
            continue;
        }
        decoded += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
        i += 2;
    }
    return decoded;
}

namespace {

// Some libraries write lists as name[] or name[0].
std::string hint_for(std::string_view name, std::span<const std::string_view> repeatable) {
    const std::string_view stem = name.substr(0, name.find('['));
    const bool is_list =
        stem.size() < name.size() && std::ranges::find(repeatable, stem) != repeatable.end();
    if (!is_list) return "Unknown parameter.";
    return "Repeat " + std::string(stem) + " instead: " + std::string(stem) + "=...&" +
           std::string(stem) + "=...";
}

}  // namespace

parameters::parameters(std::string_view text, std::span<const std::string_view> known,
                       field_errors& found, std::span<const std::string_view> repeatable) {
    const auto is_among = [](std::span<const std::string_view> names, std::string_view name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    while (!text.empty()) {
        std::string pair(text.substr(0, text.find('&')));
        text.remove_prefix(std::min(text.size(), pair.size() + 1));
        if (pair.empty()) continue;
        std::replace(pair.begin(), pair.end(), '+', ' ');
        const auto equals = pair.find('=');
        std::string name = percent_decoded(std::string_view(pair).substr(0, equals));
        std::string value = equals == std::string::npos
                                ? std::string()
                                : percent_decoded(std::string_view(pair).substr(equals + 1));
        if (is_among(repeatable, name)) {
            pairs_.emplace_back(std::move(name), std::move(value));
        } else if (!is_among(known, name)) {
            found.push_back({name, "unknown-parameter", hint_for(name, repeatable)});
        } else if (std::any_of(pairs_.begin(), pairs_.end(),
                               [&](const auto& p) { return p.first == name; })) {
            found.push_back({name, "duplicate-parameter", "Must be given once."});
        } else {
            pairs_.emplace_back(std::move(name), std::move(value));
        }
    }
}

std::string_view parameters::get(std::string_view name) const noexcept {
    for (const auto& [have, value] : pairs_) {
        if (have == name) return value;
    }
    return {};
}

std::vector<std::string> parameters::all(std::string_view name) const {
    std::vector<std::string> values;
    for (const auto& [have, value] : pairs_) {
        if (have == name) values.push_back(value);
    }
    return values;
}

page_request read_page(const parameters& asked, field_errors& found) {
    page_request p;
    if (const auto text = asked.get("pageSize"); !text.empty()) {
        const auto size = parse_integer(text);
        if (!size || *size < 0) {
            found.push_back({"pageSize", "invalid", "Must be a whole number, 1 to 1000."});
        } else if (*size > 0) {
            p.size = std::min(*size, page_size_max);
        }
    }
    if (const auto text = asked.get("pageToken"); !text.empty()) {
        const auto after = read_page_token(text);
        if (!after) {
            found.push_back(
                {"pageToken", "malformed", "Must be the nextPageToken of another page."});
        }
        p.after = after.value_or(0);
    }
    return p;
}

std::string page_token(std::int64_t last_id) {
    return to_base64url(std::string(token_form) + std::to_string(last_id));
}

}  // namespace callsign::wire
