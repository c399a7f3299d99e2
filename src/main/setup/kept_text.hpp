#pragma once
// A text that may be requested at any rate: it is produced at a limited rate, and otherwise
// returned unchanged. One thread.

#include <callsign/base/time.hpp>

#include <algorithm>
#include <string>

namespace callsign::setup {

class kept_text {
  public:
    // An unused interval is saved for a second at most (the generic cell rate algorithm, ITU-T
    // I.371).
    static constexpr milliseconds interval{20};
    static constexpr milliseconds saved_max = std::chrono::seconds{1};

    // `now`: clock::elapsed().
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
