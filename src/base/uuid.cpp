#include <callsign/base/hex.hpp>
#include <callsign/base/uuid.hpp>

#include <algorithm>
#include <boost/uuid/uuid_io.hpp>

namespace callsign {

// Not boost's string_generator: it throws on bad input and accepts braces and plain hex digits.
std::optional<uuid> parse_uuid(std::string_view text) noexcept {
    if (text.size() != 36) return std::nullopt;
    uuid id{};
    std::size_t byte = 0;
    for (std::size_t i = 0; i < text.size();) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (text[i++] != '-') return std::nullopt;
            continue;
        }
        const int high = hex_value(text[i]);
        const int low = hex_value(text[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        id.data[byte++] = static_cast<std::uint8_t>(high * 16 + low);
        i += 2;
    }
    return id;
}

std::string to_string(const uuid& id) {
    std::string text(36, '\0');
    boost::uuids::to_chars(id, text.data());
    return text;
}

uuid make_uuid_v7(time_point now, std::uint32_t counter, std::uint64_t random) noexcept {
    const auto ms = static_cast<std::uint64_t>(now.time_since_epoch().count());
    uuid id{};
    for (int i = 0; i < 6; ++i) id.data[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
    id.data[6] = static_cast<std::uint8_t>(0x70 | ((counter >> 14) & 0x0F));  // version 7
    id.data[7] = static_cast<std::uint8_t>(counter >> 6);
    id.data[8] = static_cast<std::uint8_t>(0x80 | (counter & 0x3F));  // variant 10
    for (int i = 0; i < 7; ++i) id.data[9 + i] = static_cast<std::uint8_t>(random >> (48 - 8 * i));
    return id;
}

std::optional<time_point> time_of_uuid_v7(const uuid& id) noexcept {
    if ((id.data[6] & 0xF0) != 0x70 || (id.data[8] & 0xC0) != 0x80) return std::nullopt;
    std::int64_t ms = 0;
    for (int i = 0; i < 6; ++i) ms = ms << 8 | id.data[i];
    return time_point{milliseconds{ms}};
}

uuid make_uuid_v4(std::span<const std::uint8_t, 16> random) noexcept {
    uuid id{};
    std::copy(random.begin(), random.end(), id.begin());
    id.data[6] = static_cast<std::uint8_t>(0x40 | (id.data[6] & 0x0F));  // version 4
    id.data[8] = static_cast<std::uint8_t>(0x80 | (id.data[8] & 0x3F));  // variant 10
    return id;
}

}  // namespace callsign
