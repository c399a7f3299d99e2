#include "history.hpp"

#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/tasks.hpp>

#include <algorithm>
#include <boost/range/adaptor/reversed.hpp>
#include <map>
#include <utility>

namespace callsign::history {
namespace {

// Bytes of a row without its text.
constexpr std::size_t row_bytes = 64;
// The diffs from a state to the next whole one may take as many bytes as the task, or this many.
constexpr std::size_t short_way = 1024;
// Maximum that one step removes.
constexpr std::size_t forgotten_bytes_max = std::size_t{4} << 20;

}  // namespace

// A diff is stored if the diffs to the next whole state stay within the task's size, so history
// grows linearly with the bytes sent.
std::int64_t put(write_tx& tx, const task& before, std::int64_t way_back, const attributes& after,
                 bool purged, time_point now) {
    std::int64_t way_now = 0;
    history_row row;
    row.id = tx.draw(drawn_id::history);
    row.account = before.account;
    row.task = before.id;
    row.seq = before.last_seq;
    row.ended_at = now;
    row.kind = before.purged ? history_kind::purged : history_kind::whole;
    if (!before.purged && !purged) {
        row.text = diff_between(after, before.attributes);
        const std::size_t way = static_cast<std::size_t>(way_back) + size_of(row.text) + row_bytes;
        if (way <= std::max(size_of(before.attributes), short_way)) {
            row.kind = history_kind::way_back;
            way_now = static_cast<std::int64_t>(way);
        }
    }
    if (row.kind == history_kind::whole) row.text = {before.attributes, {}};
    row.bytes = size_of(row.text);
    tx.put(std::move(row));
    return way_now;
}

std::optional<task> find_as_of(read_tx& tx, account_id account, const uuid& id, std::int64_t seq) {
    auto found = tasks::find(tx, account, id);
    if (!found || found->last_seq <= seq) return found;
    const auto its = range_of<history_by_task>(found->id);
    const auto at = tx.all(range(its).after(seq + 1).descending().limit(1));
    if (at.empty()) return std::nullopt;
    // In ascending order: each diff leads from the next state back to its own.
    std::vector<row_of<history_row>> ways;
    const auto is_way = [&](row_of<history_row> row) {
        if (row->kind == history_kind::way_back) {
            ways.push_back(std::move(row));
            return true;
        }
        found->attributes = row->text.set;
        found->purged = row->kind == history_kind::purged;
        return false;
    };
    if (is_way(at.front())) tx.scan(range(its).after(at.front()->seq), is_way);
    for (const auto& way : boost::adaptors::reverse(ways)) {
        if (found->purged || !apply_diff(way->text, found->attributes)) {
            throw_damaged("task_history", way->id, "nothing to go back from");
        }
    }
    found->last_seq = at.front()->seq;
    return found;
}

bool forget(write_tx& tx, time_point before, std::int64_t limit) {
    std::map<account_id, std::int64_t> begins;
    std::size_t bytes = 0;
    bool are_more = false;
    std::int64_t left = limit;
    tx.scan(range_of<history_by_id>().limit(limit).heads(), [&](const row_of<history_head>& each) {
        if (each->ended_at >= before) return false;
        std::int64_t& begin = begins[each->account];
        begin = std::max(begin, each->seq);
        tx.erase(each);
        bytes += each->bytes;
        are_more = --left == 0 || bytes >= forgotten_bytes_max;
        return !are_more;
    });
    for (const auto& [account, seq] : begins) {
        tx.edit(tx.expect<accounts_by_id>(account), [seq = seq](callsign::account& a) {
            a.history_from = std::max(a.history_from, seq);
        });
    }
    return are_more;
}

bool scrub(write_tx& tx, task_id task, std::int64_t through, std::size_t& work) {
    bool are_all = true;
    tx.scan(range_of<history_by_task>(task).heads(), [&](const row_of<history_head>& each) {
        if (each->seq >= through) return false;
        if (each->kind == history_kind::purged) return true;
        are_all = work > 0;
        if (!are_all) return false;
        work -= std::min(work, row_bytes + each->bytes);
        history_row purged{*each, {}};
        purged.kind = history_kind::purged;
        purged.bytes = 0;
        tx.put(each, std::move(purged));
        return true;
    });
    return are_all;
}

}  // namespace callsign::history
