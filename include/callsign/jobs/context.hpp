#pragma once
// What jobs work with. It outlives them.

#include <callsign/engine/engine.hpp>
#include <callsign/jobs/board.hpp>
#include <callsign/seal/key_ring.hpp>

namespace callsign::jobs {

struct context {
    callsign::engine& engine;
    callsign::entropy& entropy;
    const seal::key_ring* master;  // none: no secret can be kept
    jobs::board& board;
};

}  // namespace callsign::jobs
