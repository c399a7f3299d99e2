#include "outbox_machine.hpp"

#include <callsign/base/back_off.hpp>

#include <algorithm>

namespace callsign {

using kind = outbox_event::kind;

outbox_action outbox_machine::resume(const outbox_event& e, std::uint8_t drawn) {
    if (e.what == kind::failed) return after_failure(e, drawn);
    if (e.what == kind::moved) {
        uncertain_ = false;
        resends_ = 0;
        return do_next(outbox_step::pull);
    }
    switch (step_) {
    case outbox_step::rest:
        return do_next(e.verify_due && !uncertain_ ? outbox_step::verify : outbox_step::pull);
    case outbox_step::verify:
    case outbox_step::restart:
        if (e.what == kind::diverged || e.what == kind::incomplete) {
            // A halt needs an operator, so one report of missing versions is not enough.
            if (++doubts_ < limits_.doubts_max) return back_off(e, drawn);
            step_ = outbox_step::halt;
            doubts_ = 0;
            return {.step = step_,
                    .why = e.what == kind::diverged ? remote_halt::history_lost
                                                    : remote_halt::history_incomplete};
        }
        return do_next(outbox_step::pull);
    case outbox_step::pull: return after_pull(e);
    case outbox_step::apply:
        return do_next(e.what == kind::applied ? outbox_step::pull : outbox_step::apply);
    case outbox_step::take:
        if (e.what == kind::nothing) return rest(limits_.poll_interval, false);
        is_single_ = e.is_single;
        return do_next(outbox_step::send);
    case outbox_step::send:
    case outbox_step::resend: return after_send(e, drawn);
    case outbox_step::settle:
        uncertain_ = false;
        resends_ = conflicts_ = rejections_ = 0;
        effects_max_ = std::min(2 * effects_max_, limits_.effects_max);
        break;
    case outbox_step::disband:
    case outbox_step::give_up:
        uncertain_ = false;
        resends_ = 0;
        if (failures_ > 0) return back_off(e, drawn);
        if (rejections_ > 0) return pause_after_rejection(drawn);
        break;
    case outbox_step::halt: return do_next(outbox_step::pull);
    }
    if (!e.has_work) return rest(limits_.poll_interval, false);
    return do_next(e.pull_first ? outbox_step::pull : outbox_step::take);
}

outbox_action outbox_machine::after_pull(const outbox_event& e) {
    failures_ = 0;
    switch (e.what) {
    case kind::own_child: return do_next(outbox_step::settle);
    case kind::child:
        uncertain_ = false;  // no copy of ours can still be accepted there
        resends_ = doubts_ = 0;
        return do_next(outbox_step::apply);
    case kind::gone: return do_next(outbox_step::restart);
    default: break;
    }
    doubts_ = 0;
    if (uncertain_) {
        // It has not arrived, or not yet: of two copies the remote accepts one.
        if (resends_ < limits_.resends_max) {
            ++resends_;
            return do_next(outbox_step::resend);
        }
        effects_max_ = std::max<std::int64_t>(1, effects_max_ / 2);
        return do_next(outbox_step::disband);
    }
    if (!e.has_work) return rest(limits_.poll_interval, false);
    return do_next(outbox_step::take);
}

outbox_action outbox_machine::after_send(const outbox_event& e, std::uint8_t drawn) {
    failures_ = 0;
    if (e.what == kind::accepted) return do_next(outbox_step::settle);
    // Another version was first, or a copy of ours: the child of the parent decides.
    uncertain_ = true;
    ++conflicts_;
    const auto turns = std::min<std::int64_t>(conflicts_, 8);
    return rest(limits_.conflict_pause * turns * drawn / 255, true);
}

outbox_action outbox_machine::after_failure(const outbox_event& e, std::uint8_t drawn) {
    const bool was_sent = step_ == outbox_step::send || step_ == outbox_step::resend;
    if (was_sent) {
        using failure = sink_failure::kind;
        const bool is_rejected =
            e.failure == failure::rejected && step_ == outbox_step::send && !uncertain_;
        if (is_rejected) ++rejections_;
        if (is_rejected && is_single_) return do_next(outbox_step::give_up);
        if (is_rejected) {
            effects_max_ = std::max<std::int64_t>(1, effects_max_ / 2);
            return do_next(outbox_step::disband);
        }
        const bool may_be_there = e.failure != failure::unreachable && e.failure != failure::busy;
        if (may_be_there) uncertain_ = true;
        if (!uncertain_) {
            // Nothing of it was sent: it is taken again when the remote can be reached.
            failures_ = std::max<std::int64_t>(failures_, 1);
            return do_next(outbox_step::disband);
        }
    }
    return back_off(e, drawn);
}

// Short at first: after a rejection, smaller versions are tried until the rejected part is
// isolated.
outbox_action outbox_machine::pause_after_rejection(std::uint8_t drawn) {
    const callsign::back_off pauses{limits_.conflict_pause, limits_.retry_max};
    return rest(pauses.after(rejections_, drawn), true);
}

outbox_action outbox_machine::back_off(const outbox_event& e, std::uint8_t drawn) {
    const callsign::back_off pauses{limits_.retry_min, limits_.retry_max};
    return rest(pauses.after(++failures_, drawn, e.retry_in), true);
}

}  // namespace callsign
