// `callsign audit`: shows the audit log.

#include "callsign/v1/callsign.pb.h"
#include "commands.hpp"
#include "text.hpp"

#include <vector>

namespace callsign::cli {
namespace {

std::string who(const v1::AuditEntry& e) {
    if (e.token_id().empty()) return "the server";
    const std::string name = printable(e.by()) + " (" + e.token_id() + ")";
    return e.by_account() ? name + " of the account" : name;
}

}  // namespace

void show_audit_log(session& s, const audit_filter& filter) {
    std::string target = "/v1/admin/audit";
    if (!filter.account.empty()) target += "?account=" + percent_encode(filter.account);
    const auto list = s.ask_pages(target, filter.limit, &v1::AuditLog::entries_size);
    if (s.json()) return s.print_json(wire::encode(wire::format::json, list));
    std::vector<row> rows;
    for (const v1::AuditEntry& e : list.entries()) {
        rows.push_back({time_text(e.has_at(), e.at()), who(e), e.client(), e.action(),
                        printable(e.account()), printable(e.subject())});
    }
    print_table(s.out(), {"WHEN", "WHO", "FROM", "ACTION", "ACCOUNT", "WHAT"}, rows);
    if (!list.next_page_token().empty()) {
        s.around().err << "Older entries are not shown: raise --limit.\n";
    }
}

}  // namespace callsign::cli
