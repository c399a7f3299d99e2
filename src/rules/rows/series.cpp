#include <callsign/ports/tables/series.hpp>
#include <callsign/rules/rows/series.hpp>

#include <string>
#include <utility>

namespace callsign::all_series {
namespace {

// Returns the first series after `after` that the index has.
template <class Index>
std::optional<series> next_of(read_tx& tx, series_id after) {
    const auto next = tx.all(range_of<Index>().after(after).limit(1));
    return next.empty() ? std::nullopt : copy_of(next.front());
}

}  // namespace

std::optional<series> find(read_tx& tx, account_id account, std::string_view prefix) {
    const auto named = tx.get<prefixes_by_name>(account, prefix);
    return named ? copy_of(tx.expect<series_by_id>(named->series)) : std::nullopt;
}

std::optional<series> find_for_project(read_tx& tx, account_id account, std::string_view project) {
    if (project.empty()) return std::nullopt;
    return copy_of(tx.get<series_by_project>(account, project));
}

std::optional<series> default_of(read_tx& tx, account_id account) {
    return copy_of(tx.get<series_default>(account));
}

std::vector<series> of(read_tx& tx, account_id account) {
    return tx.copies(range_of<series_by_account>(account));
}

std::optional<series> next_numbering(read_tx& tx, series_id after) {
    return next_of<series_numbering>(tx, after);
}

std::optional<series> next_renamed(read_tx& tx, series_id after) {
    return next_of<series_renamed>(tx, after);
}

series_id put(write_tx& tx, account_id account, std::string_view prefix, std::string_view project,
              bool is_default, time_point now) {
    tx.raise_last_moment(now);
    series made;
    made.id = series_id{tx.draw(drawn_id::series)};
    made.account = account;
    made.prefix = prefix;
    made.project = project;
    made.is_default = is_default;
    made.created_at = now;
    tx.put(prefix_row{account, made.prefix, made.id});
    return tx.put(std::move(made))->id;
}

void update(write_tx& tx, const series& now, time_point at) {
    tx.raise_last_moment(at);
    tx.edit(tx.expect<series_by_id>(now.id), [&](series& s) {
        s.prefix = now.prefix;
        s.project = now.project;
        s.reset = now.reset;
        s.time_zone = now.time_zone;
        s.archived = now.archived;
        s.allows_gaps = now.allows_gaps;
        s.held = now.held;
        s.numbering = now.numbering;
        s.renamed_seq = now.renamed_seq;
        s.renamed_period = now.renamed_period;
        s.renamed_number = now.renamed_number;
    });
    if (tx.get<prefixes_by_name>(now.account, now.prefix)) return;
    tx.put(prefix_row{now.account, now.prefix, now.id});
}

std::int64_t count_former_prefixes(read_tx& tx, account_id account) {
    return tx.count(range_of<prefixes_by_name>(account)) -
           tx.count(range_of<series_by_account>(account));
}

}  // namespace callsign::all_series
