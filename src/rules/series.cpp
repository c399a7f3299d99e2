// Creates and edits series.

#include "numbering.hpp"
#include "once.hpp"
#include "renaming.hpp"
#include "resolve.hpp"
#include "room.hpp"
#include "series_choice.hpp"

#include <callsign/ports/tables/series.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rules.hpp>

#include <algorithm>

namespace callsign::rules {
namespace {

bool is_taken(write_tx& tx, account_id account, std::string_view project) {
    return !project.empty() && all_series::find_for_project(tx, account, project).has_value();
}

std::optional<edit_series::answer> rejection_of_next(write_tx& tx, const series& s,
                                                     std::int64_t next, time_point now) {
    const std::int64_t last = numbers::last(tx, s.id, period_now(tx, s, now));
    if (next <= last) return edit_series::next_too_low{last + 1};
    const bool is_empty = numbers::given(tx, s.id).empty();
    if (next > last + 1 && !is_empty && !s.allows_gaps) return edit_series::promises_no_gaps{};
    return std::nullopt;
}

// Of a request that is repeated: the series as it is now.
replayed<series> shown_again(write_tx& tx, const kept_request& known, const moment& m) {
    return {shown(tx, *tx.expect<series_by_id>(series_id{known.subject}), m.now)};
}

series changed(const edit_series& c, series s) {
    if (c.prefix) s.prefix = *c.prefix;
    if (c.project) s.project = *c.project;
    if (c.reset) s.reset = *c.reset;
    if (c.time_zone) s.time_zone = *c.time_zone;
    if (c.allows_gaps) s.allows_gaps = *c.allows_gaps;
    if (c.archived) s.archived = *c.archived;
    // Frees the project for another series.
    if (s.archived) s.project.clear();
    return s;
}

std::optional<edit_series::answer> rejection_to_edit(write_tx& tx, const series& before,
                                                     const series& after) {
    const auto owner_of_prefix = all_series::find(tx, before.account, after.prefix);
    if (owner_of_prefix && owner_of_prefix->id != before.id) return prefix_taken{};
    if (after.project != before.project && is_taken(tx, before.account, after.project)) {
        return project_taken{};
    }
    if (after.reset != before.reset && !numbers::given(tx, before.id).empty()) {
        return edit_series::reset_is_settled{};
    }
    if (after.archived && before.is_default) return edit_series::default_stays{};
    return std::nullopt;
}

}  // namespace

create_series::answer apply(write_tx& tx, const create_series& c, const moment& m) {
    const auto owner = resolve(tx, c.account);
    if (!owner) return no_such_account{};
    const auto again = [&](const kept_request& known) { return shown_again(tx, known, m); };
    if (auto known = answer_if_known<create_series::answer>(tx, owner->id, c.once, again)) {
        return *std::move(known);
    }
    if (all_series::find(tx, owner->id, c.prefix)) return prefix_taken{};
    if (is_taken(tx, owner->id, c.project)) return project_taken{};
    if (all_series::of(tx, owner->id).size() >= series_max) return create_series::too_many_series{};
    if (!has_room_to_keep(tx, owner->id, c.once, m)) return account_full{};
    const series_id id = all_series::put(tx, owner->id, c.prefix, c.project, false, m.now);
    series made = *all_series::find(tx, owner->id, c.prefix);
    made.reset = c.reset;
    made.time_zone = c.time_zone;
    made.allows_gaps = c.allows_gaps;
    all_series::update(tx, made, m.now);
    raise_next(tx, made, c.next, m.now);
    keep_outcome(tx, owner->id, c.once, id.value, 0, m);
    m.tell(events::series_created{owner->id, id});
    return shown(tx, std::move(made), m.now);
}

edit_series::answer apply(write_tx& tx, const edit_series& c, const moment& m) {
    const auto owner = resolve(tx, c.account);
    if (!owner) return no_such_account{};
    const auto again = [&](const kept_request& known) { return shown_again(tx, known, m); };
    if (auto known = answer_if_known<edit_series::answer>(tx, owner->id, c.once, again)) {
        return *std::move(known);
    }
    const auto named = all_series::find(tx, owner->id, c.named);
    if (!named) return no_such_series{};
    series after = changed(c, *named);
    if (auto no = rejection_to_edit(tx, *named, after)) return *std::move(no);
    if (c.next) {
        if (auto no = rejection_of_next(tx, after, *c.next, m.now)) return *std::move(no);
    }
    // A prefix that the series had before does not count again.
    if (!all_series::find(tx, owner->id, after.prefix) && !has_room_for_prefix(tx, owner->id, m)) {
        return edit_series::too_many_prefixes{};
    }
    const std::size_t changes = after.prefix == named->prefix ? 0 : size_of_renaming(tx, after, m);
    if (!has_room_to_keep(tx, owner->id, c.once, m, changes)) return account_full{};
    all_series::update(tx, after, m.now);
    if (c.next) raise_next(tx, after, *c.next, m.now);
    if (after.prefix != named->prefix) {
        std::size_t work_left = step_work_max;
        begin_renaming(tx, after, work_left, m);
    }
    keep_outcome(tx, owner->id, c.once, after.id.value, 0, m);
    return shown(tx, std::move(after), m.now);
}

}  // namespace callsign::rules
