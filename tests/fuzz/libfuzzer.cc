// libFuzzer's way in. Built by scripts/fuzz, with CALLSIGN_FUZZ_TARGET the name of one in
// targets.hpp or head_targets.hpp.

#include "head_targets.hpp"
#include "targets.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    callsign::testing::CALLSIGN_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
    return 0;
}
