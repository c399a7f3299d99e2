#include "no_dumps.hpp"

#include <callsign/cli/cli.hpp>

int main(int argc, char** argv) {
    callsign::keep_out_of_dumps();
    return callsign::cli::run(argc, argv);
}
