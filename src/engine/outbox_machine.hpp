#pragma once
// What to do next for one account that lives elsewhere: to pull what others did there, to send what
// waits here, to find out what became of what was sent, to wait. It does nothing itself: whoever
// drives it (outbox.cpp) carries out one action and tells it what came of that.
//
// The rule it keeps: while it is not known what became of a version, no other one is sent behind
// its parent but the same again, and what the child of that parent is, is asked first.

#include <callsign/domain/remote_chain.hpp>
#include <callsign/ports/task_sink.hpp>

#include <algorithm>
#include <cstdint>

namespace callsign {

struct outbox_limits {
    // Between two looks at the remote, when nothing happens.
    milliseconds poll_interval{std::chrono::seconds{5}};
    // After a failure; doubled with each further one.
    milliseconds retry_min{std::chrono::milliseconds{500}};
    milliseconds retry_max{std::chrono::minutes{5}};
    // After a conflict, for a moment; so that two writers do not meet again and again.
    milliseconds conflict_pause{std::chrono::milliseconds{20}};
    // A version whose outcome is not known is sent again so often; then it is taken apart.
    std::int64_t resends_max = 4;
    // A server says so often that versions are gone from it before that is believed.
    std::int64_t doubts_max = 6;
    // Creations and keys in one version.
    std::int64_t effects_max = 500;
};

enum class outbox_step {
    verify,   // is the cursor still the child of the version before it?
    pull,     // what is the child of the cursor?
    apply,    // what was pulled, some of it
    restart,  // from a snapshot, or the beginning
    take,     // what is to be sent?
    send,     // what was taken
    resend,   // the same once more
    settle,   // what was sent and is on the chain
    disband,  // what was sent is given back: its creations and keys are taken anew
    give_up,  // the one creation that was sent: the remote does not want it
    rest,     // until the time has passed, or something waits
    halt,     // until a person acts
};

struct outbox_action {
    outbox_step step = outbox_step::rest;
    milliseconds pause{0};                // of a rest
    bool is_patient = false;              // of a rest: not even what waits ends it
    remote_halt why = remote_halt::none;  // of a halt
};

struct outbox_event {
    enum class kind {
        rested,
        confirmed,   // verify: it is
        diverged,    // verify, restart: versions are gone
        incomplete,  // restart: there is no beginning
        child,       // pull: somebody's
        own_child,   // pull: what was sent
        up_to_date,  // pull: there is none
        gone,        // pull: the remote does not have the cursor
        applied_part,
        applied,
        restarted,
        taken,
        nothing,  // take: nothing waits that can be sent
        accepted,
        conflict,
        settled,
        disbanded,
        moved,  // the mirror is not where it was thought to be: it was read anew
        failed,
    };

    kind what = kind::rested;
    bool verify_due = false;  // rested
    bool has_work = false;    // something waits
    bool pull_first = false;  // and is to be looked at on what the remote has now
    bool is_single = false;   // taken: one creation or key, and nothing else
    sink_failure::kind failure = sink_failure::kind::unreachable;
    milliseconds retry_in{0};
};

class outbox_machine {
  public:
    explicit outbox_machine(const outbox_limits& limits)
        : limits_(limits), effects_max_(limits.effects_max) {}

    // `drawn`: by chance, so that those who failed together do not come again together.
    outbox_action resume(const outbox_event& e, std::uint8_t drawn);

    // In force from the next step on.
    void reload(const outbox_limits& limits) {
        limits_ = limits;
        effects_max_ = std::min(effects_max_, limits.effects_max);
    }

    // How many creations and keys to take.
    std::int64_t effects_max() const noexcept { return effects_max_; }
    // A version was sent, and what became of it is not known.
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
    outbox_action pause_after_refusal(std::uint8_t drawn);

    outbox_limits limits_;
    outbox_step step_ = outbox_step::rest;  // whose event comes next
    std::int64_t effects_max_;
    std::int64_t failures_ = 0;   // since the remote last answered as it should
    std::int64_t conflicts_ = 0;  // since a version of ours was taken
    std::int64_t refusals_ = 0;   // since a version of ours was taken
    std::int64_t resends_ = 0;    // of the version whose outcome is not known
    std::int64_t doubts_ = 0;     // how often it said that versions are gone
    bool uncertain_ = false;
    bool is_single_ = false;
};

}  // namespace callsign
