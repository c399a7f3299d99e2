// `callsign account move ACCOUNT --here | --to URL`.

#include "callsign/v1/callsign.pb.h"
#include "commands.hpp"
#include "progress.hpp"
#include "secret_file.hpp"
#include "text.hpp"

#include <callsign/seal/secret.hpp>

#include <chrono>
#include <thread>

namespace callsign::cli {
namespace {

// While the tasks are being moved.
constexpr milliseconds between_looks{300};

v1::Account account_in(const std::string& answer) {
    v1::Account a;
    session::read(answer, a);
    return a;
}

void tell_move(const v1::RemoteState& now, progress_line& line) {
    std::string text = std::to_string(now.tasks_moved()) + " tasks moved";
    if (!now.last_error().empty()) text += "; " + now.last_error();
    line.show(text);
}

constexpr const char* before_a_move =
    "Before the move:\n"
    "1. Stop programs that write to the account.\n"
    "2. Sync each replica twice: changes that are not sent are not moved.\n"
    "3. Revoke the devices: callsign device revoke.\n"
    "4. To keep the replicas' data, configure each with the remote server and a client ID that is\n"
    "   new there, change a task on one of them, and sync them all.\n";

constexpr const char* after_a_move =
    "Replicas that synced with this client ID before the move continue unchanged. For each other "
    "one:\n"
    "1. Export unsent changes (task export), and move its taskchampion.sqlite3 aside.\n"
    "2. Set sync.server.url, sync.server.client_id and sync.encryption_secret in its .taskrc.\n"
    "3. Sync: it receives all tasks with their keys.\n";

}  // namespace

void move_account_to_local(session& s, const std::string& account, bool yes) {
    confirm(s, yes, "Move the account's tasks to this server and leave the remote server?",
            "changes that replicas send to the remote server afterwards are not received here");
    v1::MoveAccount body;
    body.set_here(true);
    s.ask_and_show<v1::Account>(
        verb::post, account_path(account, "/move"), &body, [&](const v1::Account& a) {
            s.out() << a.name()
                    << " is now local. To sync its replicas with this server: callsign device add "
                    << a.name() << " --name NAME\n";
        });
}

void move_account_to_remote(session& s, const std::string& account, const remote_choice& choice,
                            const std::string& client_id, bool yes) {
    confirm(s, yes,
            before_a_move +
                ("Move account '" + printable(account) + "' to " + printable(choice.url) + " now?"),
            "replicas must be synced before an account moves (docs/remote-accounts.md, Moving)");
    v1::MoveAccount body;
    v1::RemoteServer& at = *body.mutable_remote();
    at.set_url(choice.url);
    at.set_client_id(client_id);
    at.set_encryption_secret(read_secret(s, choice.secret_file));
    const seal::wiped afterwards(*at.mutable_encryption_secret());
    at.set_insecure(s.insecure());
    std::string answer = s.ask(verb::post, account_path(account, "/move"), &body);
    v1::Account moved = account_in(answer);
    progress_line line(s.around());
    while (moved.remote().moving()) {
        tell_move(moved.remote(), line);
        std::this_thread::sleep_for(between_looks);
        answer = s.ask(verb::get, account_path(account, ""));
        moved = account_in(answer);
    }
    line.clear();
    if (s.json()) return s.print_json(answer);
    s.out() << moved.name() << " is now on " << moved.remote().url() << ". " << after_a_move;
}

}  // namespace callsign::cli
