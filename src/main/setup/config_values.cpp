// Parses and validates each kind of value.

#include "config_values.hpp"

#include <callsign/base/text.hpp>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <cctype>
#include <charconv>
#include <functional>
#include <limits>

namespace callsign::setup {
namespace {

std::string in_quotes(std::string_view text) {
    return std::string("\"").append(text).append("\"");
}

std::string list_text(const std::vector<std::string>& all) {
    std::string list;
    for (const std::string& item : all) list += (list.empty() ? "" : ", ") + in_quotes(item);
    return "[" + list + "]";
}

template <class Item>
std::string list_text(const std::vector<Item>& all) {
    std::vector<std::string> texts;
    for (const Item& item : all) texts.push_back(to_string(item));
    return list_text(texts);
}

std::string count_text(const count_key& kind, std::int64_t value) {
    if (kind.bytes && value != 0) {
        if (value % GiB == 0) return in_quotes(std::to_string(value / GiB) + "GiB");
        if (value % MiB == 0) return in_quotes(std::to_string(value / MiB) + "MiB");
        if (value % KiB == 0) return in_quotes(std::to_string(value / KiB) + "KiB");
    }
    return std::to_string(value);
}

std::optional<std::int64_t> parse_count(std::string_view text, bool bytes) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
    if (unit.empty()) return value;
    const std::int64_t scale = unit == "KiB" ? KiB : unit == "MiB" ? MiB : unit == "GiB" ? GiB : 0;
    if (!bytes || scale == 0 || value > std::numeric_limits<std::int64_t>::max() / scale) {
        return std::nullopt;
    }
    return value * scale;
}

complaint set_text(const count_key& kind, std::string_view text, config& into) {
    const auto value = parse_count(text, kind.bytes);
    if (value) return set_number(kind, *value, into);
    if (kind.bytes)
        return "must be a number of bytes such as 65536 or \"64KiB\", not " + in_quotes(text);
    return "must be a whole number, not " + in_quotes(text);
}

// `or_word`: what else is allowed.
complaint set_duration(std::string_view text, milliseconds min, milliseconds max,
                       const std::string& or_word, const std::function<void(milliseconds)>& set) {
    const auto span = parse_duration(text);
    if (!span) {
        return "must be " + or_word + "a duration such as \"250ms\", \"30s\" or \"7d\", not " +
               in_quotes(text);
    }
    if (*span < min || *span > max) {
        return "must be " + or_word + "from " + in_quotes(to_duration_text(min)) + " to " +
               in_quotes(to_duration_text(max)) + ", not " + in_quotes(text);
    }
    set(*span);
    return {};
}

complaint set_text(const duration_key& kind, std::string_view text, config& into) {
    return set_duration(text, kind.min, kind.max, "",
                        [&](milliseconds span) { kind.target(into) = span; });
}

complaint set_text(const chosen_duration_key& kind, std::string_view text, config& into) {
    if (text == kind.word) {
        kind.target(into).reset();
        return {};
    }
    return set_duration(text, kind.min, kind.max, in_quotes(kind.word) + " or ",
                        [&](milliseconds span) { kind.target(into) = span; });
}

// Independent of the locale.
std::string ratio_text(double value) {
    std::array<char, 32> digits;
    char* const end = std::to_chars(digits.begin(), digits.end(), value).ptr;
    return {digits.data(), end};
}

complaint set_text(const ratio_key& kind, std::string_view text, config& into) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (error != std::errc{} || stop != end) {
        return "must be a number such as 0.99, not " + in_quotes(text);
    }
    return set_ratio(kind, value, into);
}

complaint set_text(const choice_key& kind, std::string_view text, config& into) {
    if (std::find(kind.choices.begin(), kind.choices.end(), text) != kind.choices.end()) {
        kind.target(into) = text;
        return {};
    }
    std::string all;
    for (const std::string_view choice : kind.choices) {
        if (!all.empty()) all += choice == kind.choices.back() ? " or " : ", ";
        all += in_quotes(choice);
    }
    return "must be " + all + ", not " + in_quotes(text);
}

// ":8080" and "localhost:8080" mean the loopback address.
complaint set_text(const address_key& kind, std::string_view text, config& into) {
    constexpr std::string_view this_machine = "127.0.0.1";
    if (text.empty() && kind.optional) {
        kind.target(into).clear();
        return {};
    }
    const auto colon = text.rfind(':');
    std::string_view host = text.substr(0, colon);
    const bool is_this_machine = colon != text.npos && (host.empty() || host == "localhost");
    if (is_this_machine) host = this_machine;
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    boost::system::error_code not_an_address;
    boost::asio::ip::make_address(std::string(host), not_an_address);
    const auto port =
        colon == text.npos ? std::nullopt : parse_count(text.substr(colon + 1), false);
    if (not_an_address || !port || *port > 65'535) {
        return "must be ADDRESS:PORT such as \"127.0.0.1:8080\" or \"[::1]:8080\", not " +
               in_quotes(text);
    }
    kind.target(into) =
        is_this_machine ? std::string(this_machine).append(text.substr(colon)) : std::string(text);
    return {};
}

complaint set_text(const path_key& kind, std::string_view text, config& into) {
    if (text.empty() && !kind.optional) return "must not be empty";
    kind.target(into) = std::filesystem::path(text);
    return {};
}

// Taskwarrior's rules for a UDA's name, and the names of its own attributes.
complaint set_text(const attribute_key& kind, std::string_view text, config& into) {
    constexpr std::array<std::string_view, 26> taken{
        "annotations", "depends", "description", "due",      "end",    "entry",    "id",
        "imask",       "last",    "mask",        "modified", "parent", "priority", "project",
        "recur",       "rtype",   "scheduled",   "start",    "status", "tags",     "template",
        "until",       "urgency", "uuid",        "wait",     "limit"};
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    const bool named =
        text.empty() || (text.size() <= 64 && is_lower(text.front()) &&
                         std::all_of(text.begin(), text.end(), [&](char c) {
                             return is_lower(c) || (c >= '0' && c <= '9') || c == '_';
                         }));
    if (!named) {
        return "must be a lower-case letter and up to 63 more of a-z, 0-9 and _, or empty, not " +
               in_quotes(text);
    }
    if (std::find(taken.begin(), taken.end(), text) != taken.end() || text.starts_with("tag_") ||
        text.starts_with("dep_") || text.starts_with("annotation_")) {
        return "must be an attribute that Taskwarrior has no use for, not " + in_quotes(text);
    }
    kind.target(into) = text;
    return {};
}

complaint set_text(const flag_key& kind, std::string_view text, config& into) {
    if (text != "true" && text != "false") return "must be true or false, not " + in_quotes(text);
    kind.target(into) = text == "true";
    return {};
}

// Parses the entries of a list separated by commas. An invalid entry is not repeated: client IDs
// are credentials.
template <class Item, class Parse>
complaint set_entries(std::string_view text, const char* not_one, Parse parse,
                      std::vector<Item>& into) {
    std::vector<Item> all;
    while (!text.empty()) {
        const std::optional<Item> item = parse(take_until(text, ','));
        if (!item) return "entry " + std::to_string(all.size() + 1) + " is " + not_one;
        all.push_back(*item);
    }
    into = std::move(all);
    return {};
}

complaint set_text(const uuids_key& kind, std::string_view text, config& into) {
    return set_entries(text, "not a UUID", parse_uuid, kind.target(into));
}

// Returns an origin as browsers write it (RFC 6454, section 6.2): scheme, host and maybe a port, in
// lower case, without a slash at the end.
std::optional<std::string> parse_origin(std::string_view text) {
    if (text == "*") return std::string(text);
    const auto host = text.find("://");
    const bool is_web = text.starts_with("https://") || text.starts_with("http://");
    if (!is_web || text.size() == host + 3) return std::nullopt;
    const bool is_plain = std::all_of(text.begin() + host + 3, text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
               c == ':' || c == '[' || c == ']';
    });
    return is_plain ? std::optional(std::string(text)) : std::nullopt;
}

// An origin and maybe a path, without the slash at the end.
complaint set_text(const web_address_key& kind, std::string_view text, config& into) {
    while (text.ends_with('/')) text.remove_suffix(1);
    const auto path = text.find('/', std::min(text.find("://"), text.size() - 1) + 3);
    const std::string_view rest = path >= text.size() ? "" : text.substr(path);
    const bool is_path = std::all_of(rest.begin(), rest.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("/-._~").find(static_cast<char>(c)) != std::string_view::npos;
    });
    const auto origin = parse_origin(text.substr(0, path));
    if (!text.empty() && (!is_path || !origin || *origin == "*")) {
        return "must be a URL such as \"https://tasks.example.org\", not " + in_quotes(text);
    }
    kind.target(into) = text;
    return {};
}

// The error does not contain the value.
complaint set_text(const database_key& kind, std::string_view text, config& into) {
    if (!text.empty() && !text.starts_with("postgresql://") && !text.starts_with("postgres://")) {
        return "must be a URL such as \"postgresql://host/database\"";
    }
    kind.target(into) = text;
    return {};
}

complaint set_text(const origins_key& kind, std::string_view text, config& into) {
    return set_entries(text, "no origin such as \"https://board.example\", nor \"*\"", parse_origin,
                       kind.target(into));
}

complaint set_text(const addresses_key& kind, std::string_view text, config& into) {
    return set_entries(text, "no address and no block of them", net::parse_address_block,
                       kind.target(into));
}

}  // namespace

complaint set_text(const config_key& key, std::string_view text, config& into) {
    return std::visit([&](const auto& kind) { return set_text(kind, text, into); }, key.kind);
}

complaint set_number(const count_key& kind, std::int64_t value, config& into) {
    if (value < kind.min || value > kind.max) {
        return "must be from " + count_text(kind, kind.min) + " to " + count_text(kind, kind.max) +
               ", not " + std::to_string(value);
    }
    std::visit(
        [&](auto target) {
            auto& place = target(into);
            place = static_cast<std::remove_reference_t<decltype(place)>>(value);
        },
        kind.target);
    return {};
}

complaint set_ratio(const ratio_key& kind, double value, config& into) {
    // Every comparison with NaN is false.
    const bool is_in =
        kind.open ? value > kind.min && value < kind.max : value >= kind.min && value <= kind.max;
    if (!is_in) {
        return std::string("must be ") + (kind.open ? "more than " : "from ") +
               ratio_text(kind.min) + (kind.open ? " and less than " : " to ") +
               ratio_text(kind.max) + ", not " + ratio_text(value);
    }
    kind.target(into) = value;
    return {};
}

std::string value_text(const config_key& key, const config& from) {
    config copy = from;
    struct {
        config& c;
        std::string operator()(const count_key& k) const {
            return count_text(
                k, std::visit([&](auto target) { return static_cast<std::int64_t>(target(c)); },
                              k.target));
        }
        std::string operator()(const duration_key& k) const {
            return in_quotes(to_duration_text(k.target(c)));
        }
        std::string operator()(const chosen_duration_key& k) const {
            const auto& span = k.target(c);
            return in_quotes(span ? to_duration_text(*span) : std::string(k.word));
        }
        std::string operator()(const ratio_key& k) const { return ratio_text(k.target(c)); }
        std::string operator()(const choice_key& k) const { return in_quotes(k.target(c)); }
        std::string operator()(const address_key& k) const { return in_quotes(k.target(c)); }
        std::string operator()(const path_key& k) const { return in_quotes(k.target(c).string()); }
        std::string operator()(const attribute_key& k) const { return in_quotes(k.target(c)); }
        std::string operator()(const web_address_key& k) const { return in_quotes(k.target(c)); }
        std::string operator()(const database_key& k) const { return in_quotes(k.target(c)); }
        std::string operator()(const flag_key& k) const { return k.target(c) ? "true" : "false"; }
        std::string operator()(const uuids_key& k) const { return list_text(k.target(c)); }
        std::string operator()(const addresses_key& k) const { return list_text(k.target(c)); }
        std::string operator()(const origins_key& k) const { return list_text(k.target(c)); }
    } const write{copy};
    return std::visit(write, key.kind);
}

}  // namespace callsign::setup
