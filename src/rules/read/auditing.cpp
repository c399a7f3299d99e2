#include "resolve.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/actions.hpp>

namespace callsign::rules {

list_actions::answer read(read_tx& tx, const list_actions& q) {
    std::optional<account_id> about;
    if (q.account) {
        const auto owner = resolve(tx, *q.account);
        if (!owner) return std::nullopt;
        about = owner->id;
    }
    const auto before = q.page.after == 0 ? std::nullopt : std::optional(action_id{q.page.after});
    page_of<admin_action> page{actions::list(tx, before, q.page.size + 1, about)};
    page.has_more = std::ssize(page.rows) > q.page.size;
    if (page.has_more) page.rows.pop_back();
    return page;
}

}  // namespace callsign::rules
