#include "numbering.hpp"

#include "resolve.hpp"
#include "series_choice.hpp"

#include <callsign/base/text.hpp>
#include <callsign/domain/task_faults.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/slots.hpp>

#include <algorithm>

namespace callsign::rules {
namespace {

// Status, entry, modified, end and the key attribute, and more bytes than they take.
constexpr std::size_t added_attributes_max = 5;
constexpr std::size_t added_bytes_max = 160;

// "dep_" and a UUID.
constexpr std::size_t bytes_of_dependency = 40;

}  // namespace

std::string period_now(write_tx& tx, const series& series, time_point now) {
    if (series.reset == reset_policy::never) return {};
    return std::max(period_of(now, series.reset, series.time_zone),
                    numbers::last_period(tx, series.id));
}

void raise_next(write_tx& tx, const series& s, std::int64_t next, time_point now) {
    const std::string period = period_now(tx, s, now);
    if (next > numbers::last(tx, s.id, period) + 1) numbers::skip(tx, s.id, period, next - 1);
}

series shown(write_tx& tx, series s, time_point now) {
    s.period = numbers::last_period(tx, s.id);
    return at_instant(numbers::with_last(tx, std::move(s)), now);
}

receipt take_receipt(write_tx& tx, const series& series, const uuid& task, const moment& m) {
    receipt r;
    r.uuid = task;
    r.prefix = series.prefix;
    r.period = period_now(tx, series, m.now);
    r.number = numbers::take(tx, series.id, r.period);
    r.created_at = m.now;
    return r;
}

attributes with_defaults(const attributes& given, time_point now) {
    attributes all = given;
    all.emplace("status", "pending");
    all.emplace("entry", epoch_text(now));
    all.emplace("modified", epoch_text(now));
    if (is_over(all)) all.emplace("end", epoch_text(now));
    return all;
}

bool is_too_large(const attributes& given, std::size_t depends, const moment& m) {
    const std::size_t added = added_bytes_max + m.key_attribute.size();
    return is_oversized(given.size() + depends + added_attributes_max,
                        size_of(given) + depends * bytes_of_dependency + added);
}

series series_for(read_tx& tx, account_id account, std::string_view prefix,
                  std::string_view project) {
    auto its = choose_series(tx, account, prefix, project);
    if (!its) throw_damaged("accounts", account.value, "it has no default series");
    return *std::move(its);
}

std::string epoch_text(time_point at) {
    return std::to_string(std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count());
}

precise_time changed_at(const attributes& all, precise_time now) {
    const auto seconds = parse_integer(value_of(all, "modified"));
    if (!seconds || *seconds < 0) return now;
    const auto latest = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    return *seconds <= latest ? precise_time{std::chrono::seconds{*seconds}} : now;
}

std::string_view project_of(const attributes& all) {
    return value_of(all, "project");
}

std::string current_key(const task& numbered) {
    return format_key(numbered.current_prefix, numbered.numbered->period,
                      numbered.numbered->number);
}

std::optional<operation> correct_key(const task& t, attributes& now, const moment& m) {
    if (m.key_attribute.empty()) return std::nullopt;
    std::optional<std::string> key;
    if (t.numbered) key = current_key(t);
    const auto found = now.find(m.key_attribute);
    const bool is_right = found == now.end() ? !key : found->second == key;
    if (is_right) return std::nullopt;
    std::string name(m.key_attribute);
    if (key) {
        now.insert_or_assign(name, *key);
    } else {
        now.erase(found);
    }
    return operation{operation_kind::update, t.uuid, std::move(name), std::move(key), m.wall};
}

void commit_slot(write_tx& tx, const slot& pending, task_id task, bool created, const moment& m) {
    if (!slots::commit(tx, pending.id, task, created, m.now)) {
        throw_damaged("slots", pending.id.value, "it is not pending");
    }
    m.tell(events::slot_settled{pending.account, pending.id, slot_state::committed});
}

void append_creation(std::vector<operation>& operations, const task& t, precise_time at) {
    operations.push_back({operation_kind::create, t.uuid, {}, {}, {}});
    for (const auto& [name, value] : t.attributes) {
        operations.push_back({operation_kind::update, t.uuid, name, value, at});
    }
}

void commit_waiting_slots(write_tx& tx, account_id account, const uuid& uuid, task_id task,
                          const moment& m) {
    for (const slot& waiting : slots::waiting_for(tx, account, uuid)) {
        commit_slot(tx, waiting, task, false, m);
    }
}

}  // namespace callsign::rules
