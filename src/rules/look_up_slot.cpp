#include <callsign/rules/rules.hpp>

namespace callsign::rules {

look_up_slot::answer apply(write_tx& tx, const look_up_slot& c, const moment& /*m*/) {
    auto found = tx.find_slot(c.account, c.key);
    if (!found) return std::nullopt;
    std::optional<receipt> given;
    if (found->state == slot_state::committed) given = tx.find_receipt(*found);
    return look_up_slot::found{std::move(*found), std::move(given)};
}

}  // namespace callsign::rules
