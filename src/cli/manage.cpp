// `callsign account manage ACCOUNT --secret-file F`: one long request to the server, with
// concurrent requests for its progress.

#include "callsign/v1/callsign.pb.h"
#include "commands.hpp"
#include "failure.hpp"
#include "input.hpp"
#include "progress.hpp"
#include "secret_file.hpp"
#include "text.hpp"

#include <callsign/seal/secret.hpp>

#include <chrono>
#include <future>

namespace callsign::cli {
namespace {

constexpr std::size_t secret_bytes_max = std::size_t{64} * 1024;
// A whole history is decrypted, which takes hours for the largest.
constexpr milliseconds managing_patience = std::chrono::hours{24};

}  // namespace

std::string read_secret(session& s, const std::string& name) {
    std::string secret;
    if (name == "-") {
        secret = read_all(s.around().in);
    } else {
        secret = read_input(s.around(), name);
    }
    while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
    if (secret.empty() || secret.size() > secret_bytes_max || secret.find('\n') != secret.npos) {
        throw failure(name + " does not contain a secret (one line, as in sync.encryption_secret)");
    }
    return secret;
}

namespace {

void tell_progress(session& s, const std::string& target, progress_line& line) {
    v1::ManagingStatus status;
    try {
        session::read(s.ask(verb::get, target), status);
    } catch (const failure&) {
        return;  // the parallel request reports the error
    }
    if (!status.running()) return;
    line.show(std::to_string(status.opened()) + " of " + std::to_string(status.total()) +
              " versions decrypted");
}

}  // namespace

void manage_account(session& s, const std::string& account, const std::string& secret_file,
                    bool yes) {
    confirm(
        s, yes,
        "Convert account '" + printable(account) +
            "' to a managed account? The server can then read its tasks. This cannot be undone.",
        "a managed account cannot become opaque again");
    v1::ManageAccount body;
    body.set_encryption_secret(read_secret(s, secret_file));
    const seal::wiped afterwards(*body.mutable_encryption_secret());
    const std::string target = account_path(account, "/manage");
    s.ask(verb::get, target);  // finds the server, before two threads use the session
    auto done = std::async(std::launch::async,
                           [&] { return s.ask(verb::post, target, &body, managing_patience); });
    progress_line line(s.around());
    while (done.wait_for(line.between_looks()) == std::future_status::timeout) {
        tell_progress(s, target, line);
    }
    line.clear();
    const std::string text = done.get();
    if (s.json()) return s.print_json(text);
    v1::ManagedAccount managed;
    session::read(text, managed);
    print_fields(s.out(), {{"account", managed.account()},
                           {"versions", std::to_string(managed.versions())},
                           {"tasks numbered", std::to_string(managed.tasks())},
                           {"device", managed.device()}});
    s.out()
        << "Its replicas continue unchanged, as one device, and receive the keys with their next "
           "sync.\n";
}

void cancel_managing(session& s, const std::string& account) {
    s.ask(verb::delete_, account_path(account, "/manage"));
    if (!s.json()) s.out() << "Cancelled: the account is unchanged.\n";
}

}  // namespace callsign::cli
