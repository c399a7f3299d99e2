#include <callsign/base/assert.hpp>
#include <callsign/base/instant_bounds.hpp>
#include <callsign/ports/table.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

namespace callsign {
namespace {

constexpr std::uint64_t sign = std::uint64_t{1} << 63;
constexpr int bits = std::numeric_limits<unsigned char>::digits;

}  // namespace

// Big-endian with the sign bit inverted: bytes sort as the integers do.
void append_part(row_key& to, std::int64_t value) {
    const std::uint64_t ordered = static_cast<std::uint64_t>(value) ^ sign;
    char bytes[sizeof ordered];
    for (std::size_t i = 0; i < sizeof bytes; ++i) {
        bytes[i] = static_cast<char>(ordered >> (bits * (sizeof bytes - 1 - i)));
    }
    to.append(bytes, sizeof bytes);
}

// Two zero bytes end the text. A zero within the text is followed by 0xFF, which no end contains.
void append_part(row_key& to, std::string_view text) {
    for (const char c : text) {
        to.push_back(c);
        if (c == '\0') to.push_back('\xFF');
    }
    to.append(2, '\0');
}

std::int64_t key_reader::integer() {
    std::uint64_t ordered = 0;
    for (const char c : bytes(sizeof ordered)) {
        ordered = ordered << bits | static_cast<unsigned char>(c);
    }
    return static_cast<std::int64_t>(ordered ^ sign);
}

std::string_view key_reader::bytes(std::size_t size) {
    CALLSIGN_ASSERT(left_.size() >= size);
    const std::string_view some = left_.substr(0, size);
    left_.remove_prefix(size);
    return some;
}

std::string key_reader::text() {
    std::string all;
    for (;;) {
        const std::size_t end = left_.find('\0');
        CALLSIGN_ASSERT(end < left_.size() - 1);
        all.append(left_, 0, end);
        const bool is_last = left_[end + 1] == '\0';
        left_.remove_prefix(end + 2);
        if (is_last) return all;
        all.push_back('\0');
    }
}

void tables::note_keys(table_info& t) {
    for (index_info& i : t.indexes) {
        for (const std::string_view name : i.columns) {
            const auto column = std::ranges::find(t.columns, name, &column_info::name);
            CALLSIGN_ASSERT(column != t.columns.end());
            column->is_in_key = true;
            i.may_change = i.may_change || column->may_change;
        }
        i.may_clash = std::ranges::any_of(t.indexes.front().columns, [&](std::string_view name) {
            return std::ranges::find(i.columns, name) == i.columns.end();
        });
    }
}

std::size_t tables::next_number() {
    static std::atomic<std::size_t> numbers{0};
    return numbers++;
}

void put_column(column_sink& to, const author& v) {
    if (const auto* const token = std::get_if<token_id>(&v)) return to.put_integer(token->value);
    const auto* const device = std::get_if<device_id>(&v);
    if (device) return to.put_integer(-device->value);
    to.put_null();
}

void take_column(column_source& from, author& v) {
    std::optional<std::int64_t> id;
    take_column(from, id);
    if (!id) {
        v = {};
    } else if (*id < 0) {
        v = device_id{-*id};
    } else {
        v = token_id{*id};
    }
}

void take_column(column_source& from, time_point& v) {
    v = time_point{milliseconds{from.take_integer()}};
    if (!is_instant(v)) from.damaged("an instant");
}

void take_column(column_source& from, attributes& v) {
    attribute_diff all = from.take_attributes();
    if (!all.absent.empty()) from.damaged("its attributes");
    v = std::move(all.set);
}

void take_column(column_source& from, std::size_t& v) {
    const std::int64_t count = from.take_integer();
    if (count < 0) from.damaged("a count below zero");
    v = static_cast<std::size_t>(count);
}

}  // namespace callsign
