#include "brought_keys.hpp"

#include "numbering.hpp"
#include "series_choice.hpp"

#include <callsign/base/text.hpp>
#include <callsign/domain/task_faults.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>

#include <algorithm>

namespace callsign::rules {
namespace {

bool is_nobodys(write_tx& tx, const brought_number& its, bool gaps) {
    const std::int64_t last = numbers::last(tx, its.of.id, its.period);
    if (its.number <= last) return numbers::is_skipped(tx, its.of.id, its.period, its.number);
    if (its.number - last > brought_ahead_max) return false;
    return gaps || its.number == last + 1;
}

// Returns whether `period` is a period of the series that has begun.
bool is_period(write_tx& tx, const series& of, const std::string& period, time_point now) {
    const std::string current = period_now(tx, of, now);
    return period.size() == current.size() && period <= current;
}

// Returns the task's `entry` if its number may date from then, otherwise now.
time_point created_at(const attributes& all, const brought_number& its, const moment& m) {
    const auto entry = parse_integer(value_of(all, "entry"));
    if (!entry || *entry < 0 || *entry > m.now.time_since_epoch().count() / 1000) return m.now;
    const time_point at{std::chrono::seconds{*entry}};
    return period_of(at, its.of.reset, its.of.time_zone) == its.period ? at : m.now;
}

}  // namespace

std::variant<brought_number, import_tasks::key_fault_kind> number_of_key(write_tx& tx,
                                                                         account_id account,
                                                                         const task_key& key,
                                                                         const moment& m) {
    using fault = import_tasks::key_fault_kind;
    auto of = all_series::find(tx, account, key.prefix);
    if (!of) return fault::unknown_prefix;
    if (!is_period(tx, *of, key.period, m.now)) return fault::other_period;
    return brought_number{*std::move(of), key.prefix, key.period, key.number};
}

std::optional<brought_number> find_brought_number(write_tx& tx, account_id account,
                                                  const attributes& all, bool imported,
                                                  const moment& m) {
    if (m.key_attribute.empty()) return std::nullopt;
    const auto ref = parse_task_ref(value_of(all, m.key_attribute));
    const auto* const key = ref ? std::get_if<task_key>(&*ref) : nullptr;
    if (!key) return std::nullopt;
    auto found = number_of_key(tx, account, *key, m);
    auto* const its = std::get_if<brought_number>(&found);
    if (!its || !(its->of.held || imported)) return std::nullopt;
    if (!is_nobodys(tx, *its, its->of.held || its->of.allows_gaps)) return std::nullopt;
    return std::move(*its);
}

std::optional<series_held> held_series_for(read_tx& tx, account_id account, const attributes& all) {
    const auto from = choose_series(tx, account, {}, project_of(all));
    if (!from || !from->held) return std::nullopt;
    return series_held{from->prefix};
}

void take_brought_number(write_tx& tx, task& t, const attributes& all, const brought_number& its,
                         const moment& m) {
    const series_id from = its.of.id;
    const std::int64_t last = numbers::last(tx, from, its.period);
    if (its.number <= last) {
        numbers::reclaim(tx, from, its.period, its.number);
    } else {
        if (its.number > last + 1) numbers::skip(tx, from, its.period, its.number - 1);
        numbers::take(tx, from, its.period);
    }
    t.numbered =
        receipt{t.uuid, its.prefix, its.period, its.number, 0, created_at(all, its, m), true};
    t.current_prefix = its.of.prefix;
}

}  // namespace callsign::rules
