#include <callsign/rules/rules.hpp>

namespace callsign::rules {
namespace {

resolved told(std::optional<task> found) {
    if (!found) return task_not_found{};
    if (found->purged) return task_deleted{};
    return std::move(*found);
}

}  // namespace

resolved resolve(read_tx& tx, account_id account, const task_ref& ref) {
    if (const auto* id = std::get_if<uuid>(&ref)) return told(tx.find_task(account, *id));
    const auto& key = std::get<task_key>(ref);
    const auto series = tx.find_series(account, key.prefix);
    if (!series) return unknown_prefix{};
    return told(tx.find_task(series->id, key.period, key.number));
}

}  // namespace callsign::rules
