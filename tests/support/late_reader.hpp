#pragma once
// Runs a function after a read transaction has begun and before it is used, as can happen with
// reader threads.

#include "support/forwarding_store.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace callsign::testing {

class late_reader final : public forwarding_store {
  public:
    using forwarding_store::forwarding_store;

    std::unique_ptr<read_tx> begin_read() override {
        auto tx = within_.begin_read();
        ++reads;
        if (meanwhile && reads == at) std::exchange(meanwhile, {})();
        return tx;
    }

    std::function<void()> meanwhile;
    int reads = 0, at = 0;
};

}  // namespace callsign::testing
