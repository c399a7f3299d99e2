#pragma once
// strong_id<Tag>: an integer ID of one kind of object, which does not mix with other integers.

#include <compare>
#include <cstdint>
#include <functional>

namespace callsign {

template <class Tag>
struct strong_id {
    std::int64_t value = 0;

    friend auto operator<=>(const strong_id&, const strong_id&) = default;
};

template <class Tag>
constexpr std::int64_t number_of(strong_id<Tag> id) noexcept {
    return id.value;
}
constexpr std::int64_t number_of(std::int64_t id) noexcept {
    return id;
}

// Row IDs of a store. They increase and are never reused.
using account_id = strong_id<struct account_tag>;
using action_id = strong_id<struct action_tag>;
using counter_id = strong_id<struct counter_tag>;
using device_id = strong_id<struct device_tag>;
using effect_id = strong_id<struct effect_tag>;
using series_id = strong_id<struct series_tag>;
using slot_id = strong_id<struct slot_tag>;
using task_id = strong_id<struct task_tag>;
using token_id = strong_id<struct token_tag>;
using webhook_id = strong_id<struct webhook_tag>;

}  // namespace callsign

template <class Tag>
struct std::hash<callsign::strong_id<Tag>> {
    std::size_t operator()(const callsign::strong_id<Tag>& id) const noexcept {
        return std::hash<std::int64_t>{}(id.value);
    }
};
