#include "key_effects.hpp"

#include "numbering.hpp"

#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/tasks.hpp>

namespace callsign::rules {
namespace {

// Returns whether to correct the key again. `is_contested`: another writer has just overwritten it.
bool may_correct(write_tx& tx, const task& numbered, bool is_contested, const moment& m) {
    key_contest contest = effects::find_contest(tx, numbered.account, numbered.uuid);
    if (contest.times > 0 && contest.last_at < m.stamped_before(key_contest_forgotten)) {
        contest.times = 0;
    }
    const bool was_over = contest.times > key_corrections_max;
    if (!is_contested) return !was_over;
    if (was_over) return false;
    ++contest.times;
    contest.last_at = m.now;
    effects::put_contest(tx, numbered.account, numbered.uuid, contest);
    if (contest.times <= key_corrections_max) return true;
    m.tell(events::key_contested{numbered.account});
    return false;
}

}  // namespace

void keep_key_effect(write_tx& tx, const task& numbered, const attributes* before,
                     const attributes& now, const moment& m) {
    if (m.key_attribute.empty()) return;
    const std::string key = current_key(numbered);
    const auto waiting = effects::find(tx, numbered.account, numbered.uuid, effect_kind::key);
    if (value_of(now, m.key_attribute) == key) {
        if (waiting) effects::remove(tx, waiting->id);
        return;
    }
    const bool is_contested = before && value_of(*before, m.key_attribute) == key;
    if (waiting || !may_correct(tx, numbered, is_contested, m)) return;
    effect e;
    e.account = numbered.account;
    e.kind = effect_kind::key;
    e.task = numbered.uuid;
    e.created_at = m.now;
    effects::put(tx, e);
    m.tell(events::effect_waiting{numbered.account});
}

void drop_key_effect(write_tx& tx, const task& gone) {
    const auto waiting = effects::find(tx, gone.account, gone.uuid, effect_kind::key);
    if (waiting) effects::remove(tx, waiting->id);
}

std::optional<operation> key_operation(write_tx& tx, const effect& waiting, const moment& m) {
    auto numbered = tasks::find(tx, waiting.account, waiting.task);
    if (!numbered || numbered->purged || !numbered->numbered) return std::nullopt;
    return correct_key(*numbered, numbered->attributes, m);
}

}  // namespace callsign::rules
