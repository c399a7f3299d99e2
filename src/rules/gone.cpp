// Detects commands whose account was removed after the request was admitted.

#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/devices.hpp>
#include <callsign/rules/rules.hpp>

#include <concepts>
#include <optional>
#include <type_traits>
#include <variant>

namespace callsign::rules {
namespace {

// Commands whose client ID is new, or a remote server's.
template <class Command>
constexpr bool brings_client_id =
    std::is_same_v<Command, create_account> || std::is_same_v<Command, create_device> ||
    std::is_same_v<Command, move_to_remote>;

template <class Command>
concept by_client = !brings_client_id<Command> && requires(const Command& c) {
    { c.client_id } -> std::same_as<const uuid&>;
};

template <class Command>
concept by_account = !by_client<Command> && requires(const Command& c) {
    { c.account } -> std::same_as<const account_id&>;
};

// Slots delay the removal of an account, so a deleted account gets no new ones.
bool has_ended(account_state state, bool makes_slots) {
    return state == account_state::removing || (makes_slots && state == account_state::deleted);
}

}  // namespace

bool is_for_gone(write_tx& tx, const command& any) {
    return std::visit(
        [&]<class Command>(const Command& c) {
            if constexpr (by_client<Command>) {
                const auto known = tx.get<devices_by_client>(c.client_id);
                if (!known) return false;
                return has_ended(tx.expect<accounts_by_id>(known->account)->state, false);
            } else if constexpr (by_account<Command>) {
                // System commands look up the account themselves.
                if (claim_of(c).who.is_system()) return false;
                const auto owner = tx.get<accounts_by_id>(c.account);
                return !owner || has_ended(owner->state, std::is_same_v<Command, reserve>);
            } else {
                return false;
            }
        },
        any);
}

}  // namespace callsign::rules
