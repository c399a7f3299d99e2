#include <callsign/domain/auto_window.hpp>

#include <algorithm>
#include <cmath>

namespace callsign {

std::string_view to_string(window_reason reason) noexcept {
    switch (reason) {
    case window_reason::fixed: return "fixed";
    case window_reason::few_samples: return "few-samples";
    case window_reason::derived: return "derived";
    case window_reason::at_floor: return "at-floor";
    case window_reason::at_ceiling: return "at-ceiling";
    case window_reason::within_hysteresis: return "within-hysteresis";
    case window_reason::shortening: return "shortening";
    }
    return "unknown";
}

milliseconds rounded_up(milliseconds span) noexcept {
    using namespace std::chrono_literals;
    const milliseconds unit = span < 1s      ? 10ms
                              : span < 10s   ? 100ms
                              : span < 10min ? milliseconds{1s}
                              : span < 6h    ? milliseconds{1min}
                                             : milliseconds{10min};
    const auto units = span / unit + (span % unit > 0ms ? 1 : 0);
    return units * unit;
}

namespace {

milliseconds within(const auto_window_options& o, milliseconds window) {
    return std::min(std::max(window, o.window_min), o.window_max);
}

// Sets the window wanted by the samples. Requires: there are enough.
void derive(const auto_window_options& o, window_choice& c) {
    const double span = static_cast<double>(c.inputs.quantile->count()) * o.margin;
    // A margin may be large; nothing beyond twice the maximum matters.
    const double most = static_cast<double>(o.window_max.count()) * 2;
    const auto free = rounded_up(milliseconds{std::llround(std::ceil(std::min(span, most)))});
    c.wanted = within(o, free);
    c.reason = free > o.window_max   ? window_reason::at_ceiling
               : free < o.window_min ? window_reason::at_floor
                                     : window_reason::derived;
}

}  // namespace

window_choice choose_window(const auto_window_options& o, const window_inputs& inputs) {
    window_choice c;
    c.inputs = inputs;
    const bool is_first = inputs.before == milliseconds{0};
    const milliseconds before = within(o, is_first ? o.fallback : inputs.before);
    // A derived window is kept until half of the required samples are lost.
    const double enough = static_cast<double>(o.samples_min) * (inputs.was_derived ? 0.5 : 1);
    c.derived = inputs.quantile && inputs.samples >= enough;
    c.wanted = within(o, o.fallback);
    if (c.derived) derive(o, c);

    c.window = c.wanted;
    const auto far = static_cast<double>(before.count()) * o.hysteresis;
    const auto difference = static_cast<double>((c.wanted - before).count());
    if (std::abs(difference) <= far) {
        c.window = before;
        if (c.derived && c.wanted != before) c.reason = window_reason::within_hysteresis;
    } else if (difference < 0) {
        const bool may = is_first || inputs.held >= o.shorten_after;
        c.window = may ? within(o, std::max(c.wanted, before / 2)) : before;
        if (c.derived && c.window != c.wanted) c.reason = window_reason::shortening;
    }
    c.changed = !is_first && c.window != inputs.before;
    if (is_first) c.changed = c.window != before;
    return c;
}

}  // namespace callsign
