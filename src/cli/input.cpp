#include "input.hpp"

#include "failure.hpp"
#include "text.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace callsign::cli {

std::string read_input(const surroundings& around, const std::string& file) {
    if (file == "-") return read_all(around.in);
    std::ifstream in(file, std::ios::binary);
    std::string text = read_all(in);
    if (!in.is_open() || in.bad()) {
        throw failure("cannot read " + file + ": " + std::strerror(errno));
    }
    return text;
}

}  // namespace callsign::cli
