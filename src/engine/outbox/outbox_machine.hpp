#pragma once
// Decides the next step for one remote account: to pull what others did, to send what waits, to
// look up the fate of what was sent, or to wait. Does nothing itself: its driver (replica.cpp)
// carries out one action at a time, and passes the result back.
//
// Invariant: while the fate of a version is unknown, only the same version is sent behind its
// parent, and the child of that parent is queried first.

#include <callsign/domain/remote_chain.hpp>
#include <callsign/ports/task_sink.hpp>

#include <algorithm>
#include <cstdint>

namespace callsign {

struct outbox_limits {
    // Between two polls of the remote, if nothing happens.
    milliseconds poll_interval{std::chrono::seconds{5}};
    // Pause after a failure, doubled with each further one.
    milliseconds retry_min{std::chrono::milliseconds{500}};
    milliseconds retry_max{std::chrono::minutes{5}};
    // Pause after a conflict, multiplied by the conflicts in a row, with jitter: so that two
    // writers do not collide again and again.
    milliseconds conflict_pause{std::chrono::milliseconds{20}};
    // How often a version whose fate is unknown is sent again before it is disbanded.
    std::int64_t resends_max = 4;
    // Reports of missing versions until they are believed, and the account is halted.
    std::int64_t doubts_max = 6;
    // Maximum of creations and keys in one version.
    std::int64_t effects_max = 500;
};

enum class outbox_step {
    verify,   // query whether the cursor is the child of the version before it
    pull,     // query the child of the cursor
    apply,    // some of what was pulled
    restart,  // from a snapshot, or the beginning
    take,     // what is to be sent, from the outbox
    send,     // what was taken
    resend,   // the same again
    settle,   // what was sent and is on the chain
    disband,  // return what was sent: its creations and keys are taken again
    give_up,  // suspend the one creation that was sent: the remote rejects it
    rest,     // until the pause has passed, or something waits
    halt,     // until an operator acts
};

struct outbox_action {
    outbox_step step = outbox_step::rest;
    milliseconds pause{0};                // of rest
    bool is_patient = false;              // of rest: not ended by what waits
    remote_halt why = remote_halt::none;  // of halt
};

struct outbox_event {
    enum class kind {
        rested,
        confirmed,   // verify: it is the child
        diverged,    // verify, restart: versions are missing
        incomplete,  // restart: the history has no beginning
        child,       // pull: another client's version
        own_child,   // pull: the version that was sent
        up_to_date,  // pull: there is no child
        gone,        // pull: the remote does not have the cursor
        applied_part,
        applied,
        restarted,
        taken,
        nothing,  // take: nothing to send
        accepted,
        conflict,
        settled,
        disbanded,
        moved,  // the mirror was not at the expected version: its row is read again
        failed,
    };

    kind what = kind::rested;
    // Set before each resume().
    bool verify_due = false;  // of rested
    bool has_work = false;    // something waits
    bool pull_first = false;  // that work depends on what the remote has now

    bool is_single = false;  // of taken: one creation or key, and nothing else
    sink_failure::kind failure = sink_failure::kind::unreachable;
    milliseconds retry_in{0};
};

class outbox_machine {
  public:
    explicit outbox_machine(const outbox_limits& limits)
        : limits_(limits), effects_max_(limits.effects_max) {}

    // `drawn`: random, for jitter, so that accounts that failed together do not retry together.
    outbox_action resume(const outbox_event& e, std::uint8_t drawn);

    // Takes effect with the next step.
    void reload(const outbox_limits& limits) {
        limits_ = limits;
        effects_max_ = std::min(effects_max_, limits.effects_max);
    }

    // Maximum of creations and keys to take.
    std::int64_t effects_max() const noexcept { return effects_max_; }
    // A version was sent, and its fate is unknown.
    bool is_uncertain() const noexcept { return uncertain_; }

  private:
    outbox_action after_pull(const outbox_event& e);
    outbox_action after_send(const outbox_event& e, std::uint8_t drawn);
    outbox_action after_failure(const outbox_event& e, std::uint8_t drawn);
    outbox_action do_next(outbox_step step) {
        step_ = step;
        return {.step = step};
    }
    outbox_action rest(milliseconds pause, bool is_patient) {
        step_ = outbox_step::rest;
        return {.step = step_, .pause = pause, .is_patient = is_patient};
    }
    outbox_action back_off(const outbox_event& e, std::uint8_t drawn);
    outbox_action pause_after_rejection(std::uint8_t drawn);

    outbox_limits limits_;
    outbox_step step_ = outbox_step::rest;  // whose event comes next
    std::int64_t effects_max_;
    std::int64_t failures_ = 0;    // since the remote's last valid response
    std::int64_t conflicts_ = 0;   // since a version of ours was accepted
    std::int64_t rejections_ = 0;  // since a version of ours was accepted
    std::int64_t resends_ = 0;     // of the version whose fate is unknown
    std::int64_t doubts_ = 0;      // reports of missing versions
    bool uncertain_ = false;
    bool is_single_ = false;
};

}  // namespace callsign
