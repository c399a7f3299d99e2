#include <callsign/cli/cli.hpp>

int main(int argc, char** argv) {
    return callsign::cli::run(argc, argv);
}
