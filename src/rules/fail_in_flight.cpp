// Fails slots of remote accounts. A slot in flight fails only behind a fence
// (docs/remote-accounts.md).

#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rules.hpp>

namespace callsign::rules {
namespace {

class sweep {
  public:
    sweep(write_tx& tx, const fail_in_flight& c, const remote_chain& remote, const moment& m)
        : tx_(tx),
          command_(c),
          remote_(remote),
          moment_(m),
          reserved_before_(m.stamped_before(c.window)) {}

    fail_in_flight::answer run() {
        std::vector<effect> sent;
        effects::visit(tx_, command_.account, command_.after, [&](effect&& e) {
            if (std::ssize(sent) == command_.limit) {
                done_.next = sent.back().id;
                return false;
            }
            sent.push_back(std::move(e));
            return true;
        });
        for (effect& e : sent) look_at(e);
        for (const slot_id id : command_.pending) {
            const auto s = slots::find(tx_, id);
            if (s && s->state == slot_state::pending && s->account == command_.account) {
                look_at(*s);
            }
        }
        return done_;
    }

  private:
    bool is_due(const slot& s) const {
        return s.created_at < reserved_before_ && !command_.busy.contains({s.account, s.key});
    }

    // A slot whose creation was never sent.
    void look_at(const slot& s) {
        ++done_.scanned;
        if (is_due(s)) fail(s, failure_reason::window_passed);
    }

    void look_at(effect& e) {
        if (e.kind == effect_kind::creation) ++done_.scanned;
        if (e.attempts < command_.attempts_max) return;  // the outbox still sends it
        if (e.kind == effect_kind::key) return send_again(e);
        const auto s = slots::find(tx_, *e.slot);
        if (!s) throw_damaged("outbox", e.id.value, "its slot is gone");
        if (!is_due(*s)) {
            send_again(e);
        } else if (e.parent == remote_.cursor) {
            ++done_.unfenced;
        } else {
            effects::remove(tx_, e.id);
            fail(*s, failure_reason::not_delivered);
        }
    }

    void send_again(effect& e) {
        e.attempts = 0;
        effects::update(tx_, e);
        moment_.tell(events::effect_waiting{e.account});
        ++done_.redelivered;
    }

    void fail(const slot& s, failure_reason why) {
        if (!slots::fail(tx_, s.id, why, moment_.now)) {
            throw_damaged("slots", s.id.value, "it is settled");
        }
        moment_.tell(events::slot_settled{s.account, s.id, slot_state::failed});
        ++done_.failed;
    }

    write_tx& tx_;
    const fail_in_flight& command_;
    const remote_chain& remote_;
    const moment& moment_;
    time_point reserved_before_;
    fail_in_flight::answer done_;
};

}  // namespace

fail_in_flight::answer apply(write_tx& tx, const fail_in_flight& c, const moment& m) {
    const auto remote = remotes::find(tx, c.account);
    if (!remote) return {};
    return sweep(tx, c, *remote, m).run();
}

}  // namespace callsign::rules
