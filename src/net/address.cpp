#include <callsign/base/text.hpp>
#include <callsign/net/address.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace callsign::net {
namespace {

namespace ip = boost::asio::ip;

constexpr address_bytes v4_block{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr unsigned v4_bits = 96;

bool is_v4(const address_bytes& address) noexcept {
    return std::equal(address.begin(), address.begin() + 12, v4_block.begin());
}

std::optional<ip::address> parse_address(std::string_view text) {
    boost::system::error_code error;
    const auto address = ip::make_address(std::string(text), error);
    return error ? std::nullopt : std::optional(address);
}

// "192.0.2.7", "192.0.2.7:4711", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:4711"
std::optional<ip::address> parse_entry(std::string_view text) {
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        return end == text.npos ? std::nullopt : parse_address(text.substr(1, end - 1));
    }
    const bool has_port = std::count(text.begin(), text.end(), ':') == 1;
    return parse_address(has_port ? text.substr(0, text.find(':')) : text);
}

// Splits at separators outside quotes; within quotes a backslash escapes.
std::vector<std::string_view> split_outside_quotes(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    bool quoted = false;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (quoted && text[at] == '\\') {
            ++at;
        } else if (text[at] == '"') {
            quoted = !quoted;
        } else if (!quoted && text[at] == separator) {
            parts.push_back(text.substr(begin, at - begin));
            begin = at + 1;
        }
    }
    parts.push_back(text.substr(begin));
    return parts;
}

// Returns the value of "for=" in an element of Forwarded, without its quotes. Empty if absent,
// repeated or with a comma: that is no address, and the elements before it are not trustworthy.
std::string client_of(std::string_view element) {
    std::string found;
    for (const std::string_view pair : split_outside_quotes(element, ';')) {
        const auto equals = pair.find('=');
        const std::string_view name = trimmed(pair.substr(0, equals));
        const bool is_for = name.size() == 3 && (name[0] == 'f' || name[0] == 'F') &&
                            (name[1] == 'o' || name[1] == 'O') &&
                            (name[2] == 'r' || name[2] == 'R');
        if (!is_for || equals == pair.npos) continue;
        std::string_view value = trimmed(pair.substr(equals + 1));
        if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"')) {
            value = value.substr(1, value.size() - 2);
        }
        if (!found.empty() || value.find(',') != value.npos) return {};
        found = value;
    }
    return found;
}

}  // namespace

address_bytes to_bytes(const ip::address& address) {
    if (address.is_v6()) return address.to_v6().to_bytes();
    address_bytes bytes = v4_block;
    const auto four = address.to_v4().to_bytes();
    std::copy(four.begin(), four.end(), bytes.begin() + 12);
    return bytes;
}

address_bytes counted_as(address_bytes address) noexcept {
    if (!is_v4(address)) std::fill(address.begin() + 8, address.end(), std::uint8_t{0});
    return address;
}

bool address_block::contains(const address_bytes& address) const noexcept {
    const std::size_t whole = bits / 8;
    if (!std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(whole),
                    address.begin())) {
        return false;
    }
    const unsigned rest = bits % 8;
    return rest == 0 || (first[whole] ^ address[whole]) >> (8 - rest) == 0;
}

std::vector<address_block> loopback_blocks() {
    return {{to_bytes(ip::make_address_v4(0x7f000000)), v4_bits + 8},
            {to_bytes(ip::address_v6::loopback()), 128}};
}

bool is_public(const address_bytes& address) {
    // Of IPv4 and of IPv6's global unicast; all other IPv6 addresses are special-purpose or
    // unassigned.
    static const std::vector<address_block> set_apart = [] {
        constexpr std::array texts{"0.0.0.0/8",      "10.0.0.0/8",     "100.64.0.0/10",
                                   "127.0.0.0/8",    "169.254.0.0/16", "172.16.0.0/12",
                                   "192.0.0.0/24",   "192.0.2.0/24",   "192.88.99.0/24",
                                   "192.168.0.0/16", "198.18.0.0/15",  "198.51.100.0/24",
                                   "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4",
                                   "2001::/23",      "2001:db8::/32",  "3fff::/20"};
        std::vector<address_block> blocks;
        blocks.reserve(texts.size());
        for (const char* text : texts) blocks.push_back(*parse_address_block(text));
        return blocks;
    }();
    static const address_block global_unicast = *parse_address_block("2000::/3");
    static const address_block translated = *parse_address_block("64:ff9b::/96");
    static const address_block tunnelled = *parse_address_block("2002::/16");
    // The IPv4 address that a translator (RFC 6052) or a tunnel (RFC 3056) uses.
    const auto inner = [&](std::ptrdiff_t from) {
        address_bytes four = v4_block;
        std::copy_n(address.begin() + from, 4, four.begin() + 12);
        return four;
    };
    if (translated.contains(address)) return is_public(inner(12));
    if (tunnelled.contains(address)) return is_public(inner(2));
    return (is_v4(address) || global_unicast.contains(address)) &&
           std::ranges::none_of(set_apart, [&](const auto& b) { return b.contains(address); });
}

std::optional<address_block> parse_address_block(std::string_view text) {
    const auto slash = text.find('/');
    const auto address = parse_address(text.substr(0, slash));
    if (!address) return std::nullopt;
    const unsigned most = address->is_v4() ? 32 : 128;
    unsigned bits = most;
    if (slash != text.npos) {
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
        if (error != std::errc{} || stop != end || bits > most) return std::nullopt;
    }
    return address_block{to_bytes(*address), bits + 128 - most};
}

std::string to_string(const address_bytes& address) {
    const ip::address_v6 six(address);
    if (!is_v4(address)) return six.to_string();
    return ip::make_address_v4(ip::v4_mapped, six).to_string();
}

std::string to_string(const address_block& block) {
    const bool four = is_v4(block.first) && block.bits >= v4_bits;
    const ip::address_v6 whole(block.first);
    std::string address =
        four ? ip::make_address_v4(ip::v4_mapped, whole).to_string() : whole.to_string();
    if (block.bits == 128) return address;
    return address + "/" + std::to_string(four ? block.bits - v4_bits : block.bits);
}

std::optional<address_bytes> forwarded_for(std::span<const std::string_view> fields,
                                           std::span<const address_block> trusted) {
    std::optional<address_bytes> found;
    for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
        std::string_view list = *field;
        for (bool more = true; more;) {
            const auto comma = list.rfind(',');
            const std::string_view entry =
                trimmed(comma == list.npos ? list : list.substr(comma + 1));
            more = comma != list.npos;
            list = list.substr(0, more ? comma : 0);
            const auto address = parse_entry(entry);
            // The addresses before it are not trustworthy.
            if (!address) return found;
            found = to_bytes(*address);
            const bool passed_on = std::any_of(trusted.begin(), trusted.end(),
                                               [&](const auto& t) { return t.contains(*found); });
            if (!passed_on) return found;
        }
    }
    return found;
}

std::optional<address_bytes> forwarded_by(std::span<const std::string_view> fields,
                                          std::span<const address_block> trusted) {
    std::vector<std::string> named;
    for (const std::string_view field : fields) {
        for (const std::string_view element : split_outside_quotes(field, ',')) {
            named.push_back(client_of(element));
        }
    }
    const std::vector<std::string_view> entries(named.begin(), named.end());
    return forwarded_for(entries, trusted);
}

}  // namespace callsign::net
