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

// Until all is there.
constexpr milliseconds between_looks{300};

v1::Account account_in(const std::string& answer) {
    v1::Account a;
    session::read(answer, a);
    return a;
}

void tell_move(const v1::RemoteState& now, progress_line& line) {
    std::string text = std::to_string(now.tasks_moved()) + " tasks are there";
    if (!now.last_error().empty()) text += "; " + now.last_error();
    line.show(text);
}

constexpr const char* before_a_move =
    "Before the move:\n"
    "1. Stop programs that write to the account.\n"
    "2. Sync each of its Taskwarriors twice: what they have not sent does not come along.\n"
    "3. Revoke their devices: callsign device revoke.\n"
    "4. To let them keep their data, set each to the other server and a client id that is new\n"
    "   there, change a task on one of them, and sync them all. Otherwise each begins anew.\n";

constexpr const char* after_a_move =
    "Taskwarriors that synced with this client id before the move go on as they are. Each other "
    "one:\n"
    "1. Export what it has not sent (task export), and move its taskchampion.sqlite3 aside.\n"
    "2. Set sync.server.url, sync.server.client_id and sync.encryption_secret in its .taskrc.\n"
    "3. Sync: it gets all tasks, with their keys.\n";

}  // namespace

void move_account_here(session& s, const std::string& account, bool yes) {
    confirm(s, yes, "Take over the account's tasks, and leave the other server?",
            "what its Taskwarriors send there from then on does not come here");
    v1::MoveAccount body;
    body.set_here(true);
    s.ask_and_show<v1::Account>(
        verb::post, account_path(account, "/move"), &body, [&](const v1::Account& a) {
            s.out() << a.name()
                    << " lives here now. Let its Taskwarriors sync here: callsign device add "
                    << a.name() << " --name NAME\n";
        });
}

void move_account_there(session& s, const std::string& account, const remote_choice& choice,
                        const std::string& client_id, bool yes) {
    confirm(s, yes,
            before_a_move +
                ("Move account '" + printable(account) + "' to " + printable(choice.url) + " now?"),
            "Taskwarriors have to be synced before an account moves (docs/elsewhere.md, Moving)");
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
    s.out() << moved.name() << " lives at " << moved.remote().url() << " now. " << after_a_move;
}

}  // namespace callsign::cli
