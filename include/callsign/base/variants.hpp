#pragma once
// Visiting and widening variants.

#include <type_traits>
#include <utility>
#include <variant>

namespace callsign {

template <class... Cases>
struct overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
overloaded(Cases...) -> overloaded<Cases...>;

// Returns the alternative as a `Wide`: what one of the cases makes of it, otherwise itself.
template <class Wide, class... Alternative, class... Cases>
Wide widen(std::variant<Alternative...>&& from, Cases&&... cases) {
    const overloaded special{std::forward<Cases>(cases)..., [](const struct no_case&) {}};
    return std::visit(
        [&]<class T>(T&& each) -> Wide {
            if constexpr (std::is_invocable_v<decltype(special), T>) {
                return special(std::forward<T>(each));
            } else {
                return Wide(std::forward<T>(each));
            }
        },
        std::move(from));
}

}  // namespace callsign
