#include "snapshot_place.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/sealed.hpp>

namespace callsign::rules {

chain_head sealed_head_of(read_tx& tx, account_id account) {
    chain_head head = accounts::head_of(tx, account);
    if (head.seq > 0) return head;
    if (const auto mark = snapshots::find_mark(tx, account)) head.version = mark->version;
    return head;
}

std::optional<std::int64_t> seq_of(read_tx& tx, account_id account, const chain_head& head,
                                   const uuid& version) {
    if (version.is_nil()) return std::nullopt;
    if (version == head.version) return head.seq;
    const auto child = sealed::find_link(tx, account, version);
    if (!child) return std::nullopt;
    return child->seq - 1;
}

}  // namespace callsign::rules
