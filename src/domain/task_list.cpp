#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/task_list.hpp>
#include <callsign/domain/urgency.hpp>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace callsign {
namespace {

using uuid_set = std::unordered_set<uuid, keyed_hash>;

// The open tasks, and those that they depend on.
class links_of_all {
  public:
    explicit links_of_all(const std::vector<scanned_task>& all) {
        for (const scanned_task& t : all) {
            if (t.is_open) open_.insert(t.id);
        }
        for (const scanned_task& t : all) {
            if (t.is_open) needed_.insert(t.depends.begin(), t.depends.end());
        }
    }

    task_links of(const scanned_task& t) const {
        if (!t.is_open) return {};
        const bool is_blocked = std::any_of(t.depends.begin(), t.depends.end(),
                                            [&](const uuid& id) { return open_.contains(id); });
        return {is_blocked, needed_.contains(t.id)};
    }

  private:
    uuid_set open_;
    uuid_set needed_;
};

}  // namespace

double rank_of(const task& t, task_sort by, time_point now) {
    const auto seconds = [&](std::string_view name) {
        const auto at = instant_of(t.attributes, name);
        return at ? static_cast<double>(at->time_since_epoch().count()) / 1000.0
                  : std::numeric_limits<double>::quiet_NaN();
    };
    switch (by) {
    case task_sort::key: return 0;
    case task_sort::due: return seconds("due");
    case task_sort::entry: return seconds("entry");
    case task_sort::modified: return seconds("modified");
    case task_sort::urgency: return urgency_of(t.attributes, now);
    }
    return 0;
}

std::vector<uuid> ordered(const std::vector<scanned_task>& all, const task_filter& filter,
                          const task_order& order) {
    const links_of_all links(all);
    std::vector<std::pair<double, std::size_t>> ranked;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const scanned_task& t = all[i];
        if (!t.is_wanted) continue;
        const task_links of_it = links.of(t);
        if (!matches(filter, of_it)) continue;
        const double rank = order.by == task_sort::urgency ? t.rank + urgency_of(of_it) : t.rank;
        ranked.emplace_back(rank, i);
    }
    const bool by_key = order.by == task_sort::key;
    if (by_key && order.descending) std::reverse(ranked.begin(), ranked.end());
    std::stable_sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) {
        if (std::isnan(a.first) || std::isnan(b.first)) {
            return !std::isnan(a.first) && std::isnan(b.first);
        }
        return order.descending ? a.first > b.first : a.first < b.first;
    });
    std::vector<uuid> ids;
    ids.reserve(ranked.size());
    for (const auto& [rank, i] : ranked) ids.push_back(all[i].id);
    return ids;
}

}  // namespace callsign
