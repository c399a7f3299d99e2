#pragma once
// What jobs depend on. It outlives them.

#include <callsign/engine/engine.hpp>
#include <callsign/jobs/board.hpp>
#include <callsign/seal/key_ring.hpp>

namespace callsign::jobs {

struct context {
    callsign::engine& engine;
    callsign::entropy& entropy;
    const seal::key_ring* master;  // null: no secret can be stored
    jobs::board& board;
};

}  // namespace callsign::jobs
