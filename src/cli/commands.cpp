#include "commands.hpp"

#include "callsign/v1/callsign.pb.h"
#include "color.hpp"
#include "failure.hpp"
#include "secret_file.hpp"
#include "text.hpp"

#include <callsign/domain/account.hpp>
#include <callsign/seal/secret.hpp>

#include <sstream>

namespace callsign::cli {
namespace {

void show_token(std::ostream& out, const v1::Token& token) {
    print_fields(out, {{"token id", token.token_id()},
                       {"name", token.name()},
                       {"scope", token.scope()},
                       {"created", time_text(token.has_created_at(), token.created_at())},
                       {"revoked", time_text(token.has_revoked_at(), token.revoked_at())},
                       {"expires", time_text(token.has_expires_at(), token.expires_at())},
                       {"token", token.token()}});
    if (!token.token().empty()) out << "Save the token now: it is not shown again.\n";
}

void show_taskrc(std::ostream& out, const v1::Device& device) {
    std::istringstream lines(device.taskrc());
    for (std::string line; std::getline(lines, line);) out << printable(line) << '\n';
}

void show_device(std::ostream& out, const v1::Device& device) {
    print_fields(out, {{"device id", device.device_id()},
                       {"name", device.name()},
                       {"client id", device.client_id()},
                       {"encryption secret", device.encryption_secret()},
                       {"created", time_text(device.has_created_at(), device.created_at())},
                       {"revoked", time_text(device.has_revoked_at(), device.revoked_at())}});
    if (device.taskrc().empty()) return;
    out << "\nLines for the device's .taskrc. Save them now: the secret is not shown again.\n\n";
    show_taskrc(out, device);
}

void show_series(std::ostream& out, const google::protobuf::RepeatedPtrField<v1::Series>& all) {
    std::vector<row> rows;
    for (const v1::Series& s : all) {
        rows.push_back({s.prefix(), s.reset(), s.time_zone(), s.project(), std::to_string(s.next()),
                        s.is_default() ? "yes" : "no", s.archived() ? "yes" : "no"});
    }
    print_table(out, {"PREFIX", "RESET", "TIME ZONE", "PROJECT", "NEXT", "DEFAULT", "ARCHIVED"},
                rows);
}

void show_one_series(std::ostream& out, const v1::Series& one) {
    v1::SeriesList list;
    *list.add_series() = one;
    show_series(out, list.series());
}

void show_slots(session& s, const v1::SlotList& list) {
    constexpr std::size_t key_column = 3;
    std::vector<row> rows;
    for (const v1::Slot& each : list.slots()) {
        rows.push_back({each.account(), each.idempotency_key(), each.state(), each.receipt().key(),
                        each.uuid(), std::to_string(each.attempts()),
                        time_text(each.has_created_at(), each.created_at()),
                        time_text(each.has_settled_at(), each.settled_at()), each.reason()});
    }
    const bool bold = colors_out(s.around(), color_choice_of(s.options().color));
    print_table(s.out(),
                {"ACCOUNT", "IDEMPOTENCY KEY", "STATE", "KEY", "UUID", "ATTEMPTS", "CREATED",
                 "SETTLED", "REASON"},
                rows, bold ? key_column : no_column);
}

std::string slots_target(const slot_filter& filter) {
    std::string query;
    if (!filter.state.empty()) query += "&state=" + percent_encode(filter.state);
    if (!filter.account.empty()) query += "&account=" + percent_encode(filter.account);
    if (!query.empty()) query[0] = '?';
    return "/v1/admin/slots" + query;
}

void show_remote(std::ostream& out, const v1::RemoteState& r) {
    std::vector<std::pair<std::string, std::string>> fields{
        {"remote server", r.url()},
        {"client id", r.client_id()},
        {"state", r.halted().empty() ? r.state() : r.state() + ": " + r.halted()},
        {"synced at", time_text(r.has_up_to_date_at(), r.up_to_date_at())},
        {"version", r.version()},
        {"creations waiting", std::to_string(r.creations_waiting())},
        {"keys waiting", std::to_string(r.keys_waiting())}};
    if (r.moving())
        fields.emplace_back("moving", std::to_string(r.tasks_moved()) + " tasks so far");
    if (r.pulled() > 0) fields.emplace_back("versions pulled", std::to_string(r.pulled()));
    if (!r.last_error().empty()) {
        fields.emplace_back("last error", r.last_error());
        fields.emplace_back("at", time_text(r.has_last_error_at(), r.last_error_at()));
    }
    print_fields(out, fields);
    if (r.halted() == "history-lost") {
        out << "The remote server has lost versions. Restore its newest backup, then run\n"
               "`callsign account remote NAME --accept-loss`: it accepts the history that the "
               "server "
               "has then.\n";
    } else if (r.halted() == "history-incomplete") {
        out << "The remote server's history is incomplete and has no snapshot. Sync one of its\n"
               "replicas, which sends one, then run `callsign account remote NAME`.\n";
    }
}

std::string result_text(const v1::SweepResult& result) {
    return std::to_string(result.scanned()) + " scanned, " + std::to_string(result.committed()) +
           " committed, " + std::to_string(result.failed()) + " failed, " +
           std::to_string(result.forgotten()) + " forgotten, " + std::to_string(result.scrubbed()) +
           " scrubbed";
}

}  // namespace

void confirm(session& s, bool yes, const std::string& question, const std::string& consequence) {
    const cli_context& around = s.around();
    if (yes) return;
    if (!around.in_is_terminal || !around.err_is_terminal) {
        throw failure(consequence + ": use --yes", exit_status::not_understood);
    }
    around.err << question << " [y/N] " << std::flush;
    std::string answer;
    // The end of the input is no answer; the cursor is still behind the question then.
    if (!std::getline(around.in, answer)) around.err << '\n';
    if (answer != "y" && answer != "Y" && answer != "yes") throw failure("nothing was changed");
}

void create_account(session& s, const account_choice& choice) {
    const bool is_remote = !choice.remote.empty();
    if (!choice.client_id.empty() && !choice.opaque && !is_remote) {
        throw failure("--client-id requires --opaque or --remote", exit_status::not_understood);
    }
    if (is_remote && (choice.client_id.empty() || choice.secret_file.empty())) {
        throw failure("--remote requires --client-id and --secret-file with the replicas' values",
                      exit_status::not_understood);
    }
    v1::CreateAccount body;
    body.set_name(choice.name);
    body.set_prefix(choice.prefix);
    if (choice.opaque) body.set_mode("opaque");
    if (is_remote) {
        v1::RemoteServer& at = *body.mutable_remote();
        at.set_url(choice.remote);
        at.set_client_id(choice.client_id);
        at.set_encryption_secret(read_secret(s, choice.secret_file));
        at.set_insecure(s.insecure());
    } else {
        body.set_client_id(choice.client_id);
    }
    s.ask_and_show<v1::Account>(
        verb::post, "/v1/admin/accounts", &body, [&](const v1::Account& made) {
            print_fields(s.out(), {{"account", made.name()},
                                   {"account id", made.account_id()},
                                   {"prefix", made.prefix()},
                                   {"created", time_text(made.has_created_at(), made.created_at())},
                                   {"token", made.token()},
                                   {"client id", made.client_id()}});
            s.out() << (made.client_id().empty()
                            ? "Save the token now: it is not shown again.\n"
                            : "Save the token and the client ID now: they are not shown again.\n");
        });
}

void show_account(session& s, const std::string& account) {
    s.ask_and_show<v1::Account>(
        verb::get, account_path(account, ""), nullptr, [&](const v1::Account& a) {
            print_fields(s.out(), {{"account", a.name()},
                                   {"account id", a.account_id()},
                                   {"prefix", a.prefix()},
                                   {"mode", a.mode()},
                                   {"state", a.state()},
                                   {"seq", std::to_string(a.seq())},
                                   {"stored bytes", std::to_string(a.stored_bytes())},
                                   {"created", time_text(a.has_created_at(), a.created_at())},
                                   {"deleted", time_text(a.has_deleted_at(), a.deleted_at())}});
            if (a.has_remote()) show_remote(s.out(), a.remote());
        });
}

void change_remote(session& s, const std::string& account, const remote_choice& choice, bool yes) {
    if (choice.accept_loss) {
        confirm(s, yes, "Accept the remote server's history, although it has lost versions?",
                "tasks that it has lost are removed here too; their keys are not used again");
    }
    v1::EditRemote body;
    body.set_url(choice.url);
    if (!choice.secret_file.empty()) {
        body.set_encryption_secret(read_secret(s, choice.secret_file));
    }
    const seal::wiped afterwards(*body.mutable_encryption_secret());
    body.set_insecure(s.insecure());
    body.set_accept_loss(choice.accept_loss);
    s.ask_and_show<v1::Account>(verb::patch, account_path(account, "/remote"), &body,
                                [&](const v1::Account& a) { show_remote(s.out(), a.remote()); });
}

void list_accounts(session& s) {
    const auto list = s.ask_pages("/v1/admin/accounts", no_limit, &v1::AccountList::accounts_size);
    if (s.json()) return s.print_json(wire::encode(wire::format::json, list));
    std::vector<row> rows;
    for (const v1::Account& a : list.accounts()) {
        rows.push_back({a.name(), a.prefix(), a.account_id(), a.state(), std::to_string(a.seq()),
                        time_text(a.has_created_at(), a.created_at())});
    }
    if (rows.empty()) {
        s.say_empty("No accounts. To create one: callsign account create NAME --prefix SYN");
    }
    print_table(s.out(), {"NAME", "PREFIX", "ACCOUNT ID", "STATE", "SEQ", "CREATED"}, rows);
}

namespace {

void edit_account(session& s, const std::string& account, const v1::EditAccount& body) {
    s.ask_and_show<v1::Account>(
        verb::patch, account_path(account, ""), &body, [&](const v1::Account& now) {
            print_fields(s.out(), {{"account", now.name()}, {"state", now.state()}});
        });
}

}  // namespace

void rename_account(session& s, const std::string& account, const std::string& name) {
    v1::EditAccount body;
    body.set_name(name);
    edit_account(s, account, body);
}

void set_account_enabled(session& s, const std::string& account, bool open) {
    v1::EditAccount body;
    body.set_disabled(!open);
    edit_account(s, account, body);
}

namespace {

// Shows the user how much is deleted before they confirm. Without a terminal there is no question.
std::string deletion_question(session& s, const std::string& account) {
    const cli_context& around = s.around();
    if (!around.in_is_terminal || !around.err_is_terminal) return {};
    v1::Account found;
    session::read(s.ask(verb::get, account_path(account, "")), found);
    return "Delete account '" + printable(found.name()) + "' and all its tasks (" +
           std::to_string(found.seq()) +
           " changes)? Its tokens and devices are rejected at once. `callsign account enable` "
           "restores it until the grace period (reaper.account_grace) ends.";
}

}  // namespace

void delete_account(session& s, const std::string& account, bool yes) {
    confirm(s, yes, yes ? std::string() : deletion_question(s, account),
            "deleting an account deletes all its tasks");
    s.ask_and_show<v1::Account>(
        verb::delete_, account_path(account, ""), nullptr, [&](const v1::Account& gone) {
            print_fields(s.out(), {{"account", gone.name()},
                                   {"state", gone.state()},
                                   {"deleted", time_text(true, gone.deleted_at())}});
        });
}

void create_token(session& s, const token_choice& choice) {
    v1::CreateToken body;
    body.set_name(choice.name);
    body.set_scope(choice.scope);
    if (!choice.expires_in.empty()) {
        const auto span = parse_duration(choice.expires_in);
        if (!span || span->count() == 0) {
            throw failure("--expires-in must be a duration such as 30d, not " + choice.expires_in,
                          exit_status::not_understood);
        }
        wire::set_timestamp(*body.mutable_expires_at(), s.around().now() + *span);
    }
    const std::string target =
        choice.account.empty() ? "/v1/admin/tokens" : account_path(choice.account, "/tokens");
    s.ask_and_show<v1::Token>(verb::post, target, &body,
                              [&](const v1::Token& made) { show_token(s.out(), made); });
}

void list_tokens(session& s, const std::string& account) {
    const auto list =
        s.ask_pages(account_path(account, "/tokens"), no_limit, &v1::TokenList::tokens_size);
    if (s.json()) return s.print_json(wire::encode(wire::format::json, list));
    std::vector<row> rows;
    for (const v1::Token& t : list.tokens()) {
        rows.push_back({t.token_id(), t.name(), t.scope(),
                        time_text(t.has_created_at(), t.created_at()),
                        time_text(t.has_revoked_at(), t.revoked_at()),
                        time_text(t.has_expires_at(), t.expires_at())});
    }
    if (rows.empty()) {
        s.say_empty("The account has no tokens. To create one: callsign token create " +
                    printable(account) + " --name NAME");
    }
    print_table(s.out(), {"TOKEN ID", "NAME", "SCOPE", "CREATED", "REVOKED", "EXPIRES"}, rows);
}

void revoke_token(session& s, const std::string& id, bool yes) {
    confirm(s, yes, "Revoke token " + printable(id) + "? This cannot be undone.",
            "revoking a token cannot be undone");
    s.ask_and_show<v1::Token>(verb::delete_, "/v1/admin/tokens/" + percent_encode(id), nullptr,
                              [&](const v1::Token& gone) { show_token(s.out(), gone); });
}

void add_device(session& s, const std::string& account, const device_choice& choice) {
    if (choice.taskrc_only && s.json()) {
        throw failure("--taskrc and --json exclude each other", exit_status::not_understood);
    }
    v1::CreateDevice body;
    body.set_name(choice.name);
    s.ask_and_show<v1::Device>(verb::post, account_path(account, "/devices"), &body,
                               [&](const v1::Device& made) {
                                   (choice.taskrc_only ? show_taskrc : show_device)(s.out(), made);
                               });
}

void list_devices(session& s, const std::string& account) {
    const auto list =
        s.ask_pages(account_path(account, "/devices"), no_limit, &v1::DeviceList::devices_size);
    if (s.json()) return s.print_json(wire::encode(wire::format::json, list));
    std::vector<row> rows;
    if (list.devices().empty()) {
        s.say_empty("The account has no devices. To add one: callsign device add " +
                    printable(account) + " --name NAME");
    }
    row titles{"NAME", "DEVICE ID", "CLIENT ID", "CREATED", "REVOKED"};
    const bool restored = std::any_of(list.devices().begin(), list.devices().end(),
                                      [](const v1::Device& d) { return !d.resync().empty(); });
    if (restored) titles.push_back("SINCE THE RESTORE");
    for (const v1::Device& d : list.devices()) {
        row& its = rows.emplace_back(row{d.name(), d.device_id(), d.client_id(),
                                         time_text(d.has_created_at(), d.created_at()),
                                         time_text(d.has_revoked_at(), d.revoked_at())});
        if (restored) its.push_back(d.resync());
    }
    print_table(s.out(), titles, rows);
}

void revoke_device(session& s, const std::string& account, const std::string& name, bool yes) {
    confirm(s, yes, "Revoke device " + printable(name) + "? This cannot be undone.",
            "revoking a device cannot be undone");
    const auto list =
        s.ask_pages(account_path(account, "/devices"), no_limit, &v1::DeviceList::devices_size);
    // The device that has the name now, or the last that had it: revoking again is no error.
    const v1::Device* found = nullptr;
    for (const v1::Device& d : list.devices()) {
        if (d.name() == name && (!found || found->has_revoked_at())) found = &d;
    }
    if (!found) throw failure("the account has no device " + printable(name));
    const std::string path = "/devices/" + percent_encode(found->device_id());
    s.ask_and_show<v1::Device>(verb::delete_, account_path(account, path), nullptr,
                               [&](const v1::Device& gone) { show_device(s.out(), gone); });
}

void create_series(session& s, const std::string& account, const series_choice& choice) {
    v1::CreateSeries body;
    body.set_prefix(choice.prefix);
    body.set_project(choice.project);
    body.set_reset(choice.reset);
    body.set_time_zone(choice.time_zone);
    body.set_next(choice.next);
    body.set_allows_gaps(choice.allows_gaps);
    s.ask_and_show<v1::Series>(verb::post, account_path(account, "/series"), &body,
                               [&](const v1::Series& made) { show_one_series(s.out(), made); });
}

void resume_series(session& s, const std::string& account, const std::string& prefix,
                   std::int64_t at) {
    v1::ResumeSeries body;
    body.set_at(at);
    const std::string path = "/series/" + percent_encode(prefix) + "/resume";
    s.ask_and_show<v1::Series>(verb::post, account_path(account, path), &body,
                               [&](const v1::Series& now) { show_one_series(s.out(), now); });
}

void edit_series(session& s, const std::string& account, const series_choice& choice) {
    v1::EditSeries body;
    if (!choice.new_prefix.empty()) body.set_prefix(choice.new_prefix);
    if (!choice.project.empty()) body.set_project(choice.project);
    if (choice.no_project) body.add_clear("project");
    if (!choice.reset.empty()) body.set_reset(choice.reset);
    if (!choice.time_zone.empty()) body.set_time_zone(choice.time_zone);
    if (choice.next != 0) body.set_next(choice.next);
    if (choice.allows_gaps || choice.no_gaps) body.set_allows_gaps(choice.allows_gaps);
    if (choice.archive || choice.restore) body.set_archived(choice.archive);
    if (body.ByteSizeLong() == 0) {
        throw failure("no change given; see --help", exit_status::not_understood);
    }
    const std::string path = "/series/" + percent_encode(choice.prefix);
    s.ask_and_show<v1::Series>(verb::patch, account_path(account, path), &body,
                               [&](const v1::Series& now) { show_one_series(s.out(), now); });
}

void list_series(session& s, const std::string& account) {
    const auto list =
        s.ask_pages(account_path(account, "/series"), no_limit, &v1::SeriesList::series_size);
    if (s.json()) return s.print_json(wire::encode(wire::format::json, list));
    if (list.series().empty()) {
        s.say_empty("The account has no series. To create one: callsign series create " +
                    printable(account) + " --prefix SYN");
    }
    show_series(s.out(), list.series());
}

namespace {

// Clients create slots; no command does.
std::string no_slots(const slot_filter& filter) {
    if (filter.state.empty() && filter.account.empty()) {
        return "No slots. POST /v1/tasks creates one.";
    }
    return "No matching slots. Without --state and --account, callsign slots list shows "
           "all";
}

}  // namespace

void list_slots(session& s, const slot_filter& filter) {
    const auto list = s.ask_pages(slots_target(filter), filter.limit, &v1::SlotList::slots_size);
    if (s.json()) return s.print_json(wire::encode(wire::format::json, list));
    if (list.slots().empty()) s.say_empty(no_slots(filter));
    show_slots(s, list);
    if (!list.next_page_token().empty()) {
        s.around().err << "More slots exist: raise --limit.\n";
    }
}

namespace {

// Shows the window of a class of accounts: reason, retries, and what other windows would have done.
void show_window(std::ostream& out, const v1::ReaperWindow& w) {
    out << (w.accounts() == to_string(account_class::remote) ? "\nRemote accounts:\n"
                                                             : "\nLocal accounts:\n");
    print_fields(out, {{"window", w.window()},
                       {"reason", w.reason()},
                       {"because", w.because()},
                       {"retries", std::to_string(w.samples())},
                       {"p50", w.p50()},
                       {"p90", w.p90()},
                       {"p99", w.p99()},
                       {"failed", std::to_string(w.failed())},
                       {"failed too early", std::to_string(w.failed_retried())},
                       {"changes", std::to_string(w.changes())},
                       {"last change", time_text(w.has_changed_at(), w.changed_at())}});
    std::vector<row> rows;
    for (const v1::OtherWindow& other : w.others()) {
        rows.push_back({other.window(), std::to_string(other.failed_retried()), other.pending()});
    }
    print_table(out, {"A WINDOW OF", "WOULD HAVE FAILED TOO EARLY", "PENDING ON AVERAGE"}, rows);
}

}  // namespace

void show_reaper(session& s) {
    s.ask_and_show<v1::ReaperStatus>(
        verb::get, "/v1/admin/reaper", nullptr, [&](const v1::ReaperStatus& r) {
            const bool is_auto = r.window_setting() == "auto";
            print_fields(s.out(),
                         {{"interval", r.interval()},
                          {"window", r.window() + (is_auto ? " (auto)" : "")},
                          {"retention", r.retention()},
                          {"batch", std::to_string(r.batch())},
                          {"pending", std::to_string(r.pending())},
                          {"oldest pending", time_text(r.has_oldest_pending(), r.oldest_pending())},
                          {"late retries", std::to_string(r.late_retries())},
                          {"sweeps", std::to_string(r.sweeps())},
                          {"last sweep", time_text(r.has_last_sweep(), r.last_sweep())},
                          {"last result", r.has_last_result() ? result_text(r.last_result()) : ""},
                          {"clock behind", r.clock_behind()},
                          {"advice", r.advice()}});
            for (const v1::InFlight& f : r.in_flight()) {
                print_fields(s.out(), {{"in flight", std::to_string(f.creations()) + " of " +
                                                         f.account() + ", since " +
                                                         time_text(f.has_oldest(), f.oldest())}});
            }
            for (const v1::ReaperWindow& w : r.windows()) show_window(s.out(), w);
        });
}

void sweep(session& s) {
    s.ask_and_show<v1::SweepResult>(
        verb::post, "/v1/admin/reaper/sweep", nullptr,
        [&](const v1::SweepResult& result) { s.out() << result_text(result) << '\n'; });
}

}  // namespace callsign::cli
