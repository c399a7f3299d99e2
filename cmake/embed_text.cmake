# cmake -D name=FUNCTION -D from=FILE -D to=FILE.cpp -P: writes the text as a function of
# src/api/ops/descriptions.hpp.
cmake_minimum_required(VERSION 3.25)
file(READ ${from} text)
file(CONFIGURE OUTPUT ${to} @ONLY CONTENT
"#include <string_view>
namespace callsign::api {
std::string_view @name@() noexcept { return R\"text(@text@)text\"; }
}
")
