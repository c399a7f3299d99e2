#pragma once
// A text that anybody may ask for, as often as they like: it is made anew so often at most, and in
// between it is what it was. One thread.

#include <callsign/base/time.hpp>

#include <algorithm>
#include <string>

namespace callsign::setup {

class kept_text {
  public:
    // Each interval's right to make it is kept for a second at most (the generic cell rate
    // algorithm, ITU-T I.371).
    static constexpr milliseconds interval{20};
    static constexpr milliseconds saved_max = std::chrono::seconds{1};

    // `now`: by clock::elapsed().
    template <class Make>
    const std::string& get(milliseconds now, const Make& make) {
        if (next_ > now) return text_;
        next_ = std::max(next_, now - saved_max) + interval;
        text_ = make();
        return text_;
    }

  private:
    milliseconds next_ = -saved_max;
    std::string text_;
};

}  // namespace callsign::setup
