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

v1::Account account_in(const std::string& answer) {
    v1::Account a;
    session::read(answer, a);
    return a;
}

void tell_move(session& s, const v1::RemoteState& now) {
    std::string line = std::to_string(now.tasks_moved()) + " tasks are there";
    if (!now.last_error().empty()) line += "; " + printable(now.last_error());
    show_progress(s.around().err, line);
}

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
                        const std::string& client_id) {
    v1::MoveAccount body;
    v1::RemoteServer& at = *body.mutable_remote();
    at.set_url(choice.url);
    at.set_client_id(client_id);
    at.set_encryption_secret(read_secret(s, choice.secret_file));
    const seal::wiped afterwards(*at.mutable_encryption_secret());
    at.set_insecure(s.insecure());
    std::string answer = s.ask(verb::post, account_path(account, "/move"), &body);
    v1::Account moved = account_in(answer);
    const bool is_watched = s.around().err_is_terminal;
    while (moved.remote().moving()) {
        if (is_watched) tell_move(s, moved.remote());
        std::this_thread::sleep_for(between_looks);
        answer = s.ask(verb::get, account_path(account, ""));
        moved = account_in(answer);
    }
    if (is_watched) show_progress(s.around().err, {});
    if (s.json()) return s.print_json(answer);
    s.out() << moved.name() << " lives at " << moved.remote().url()
            << " now. Let its Taskwarriors sync there, with this client id and secret.\n";
}

}  // namespace callsign::cli
