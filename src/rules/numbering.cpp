#include "numbering.hpp"

#include "series_choice.hpp"

namespace callsign::rules {
namespace {

// The number that a task should have had from the start.
receipt number_now(write_tx& tx, task existing, const moment& m) {
    const auto series = choose_series(tx, existing.account, {}, project_of(existing.attributes));
    if (!series) throw_damaged("accounts", existing.account.value, "it has no default series");
    existing.numbered = take_receipt(tx, *series, existing.uuid, m);
    existing.numbered->created_at = existing.created_at;
    existing.current_prefix = series->prefix;
    std::vector<operation> changes;
    if (auto correction = key_correction(existing, existing.attributes, m)) {
        existing.attributes.insert_or_assign(correction->property, *correction->value);
        changes.push_back(std::move(*correction));
    }
    const auto seq = tx.append_version(existing.account, m.ids.next(m.now), m.now, changes);
    existing.numbered->seq = seq;
    tx.number_task(existing.id, series->id, *existing.numbered);
    tx.update_task(existing.id, existing.attributes, existing.purged, seq);
    return *existing.numbered;
}

}  // namespace

receipt take_receipt(write_tx& tx, const series& series, const uuid& task, const moment& m) {
    receipt r;
    r.uuid = task;
    r.prefix = series.prefix;
    r.number = tx.take_number(series.id, r.period);
    r.created_at = m.now;
    return r;
}

std::string epoch_text(time_point at) {
    return std::to_string(std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count());
}

std::string_view project_of(const attributes& all) {
    const auto found = all.find("project");
    return found == all.end() ? std::string_view{} : std::string_view{found->second};
}

std::string current_key(const task& numbered) {
    return format_key(numbered.current_prefix, numbered.numbered->period,
                      numbered.numbered->number);
}

std::optional<operation> key_correction(const task& numbered, const attributes& now,
                                        const moment& m) {
    if (m.key_attribute.empty()) return std::nullopt;
    std::string key = current_key(numbered);
    const auto found = now.find(m.key_attribute);
    if (found != now.end() && found->second == key) return std::nullopt;
    return operation{operation::kind::update, numbered.uuid, std::string(m.key_attribute),
                     std::move(key), m.wall};
}

receipt settle_with_existing(write_tx& tx, const slot& pending, const task& existing,
                             const moment& m) {
    receipt r = existing.numbered ? *existing.numbered : number_now(tx, existing, m);
    if (!tx.commit_slot(pending.id, existing.id, false, m.now)) {
        throw_damaged("slots", pending.id.value, "it is not pending");
    }
    r.created = false;
    return r;
}

}  // namespace callsign::rules
