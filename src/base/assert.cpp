#include <callsign/base/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace callsign {

void assertion_failed(const char* expression, const char* file, int line) noexcept {
    std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
    std::abort();
}

}  // namespace callsign
