#include "run.hpp"

#include "color.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "hook.hpp"
#include "misunderstood.hpp"

#include <callsign/cli/cli.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

namespace callsign::cli {
namespace {

// What a command line chose to do. Called once parsing is over, so that a bad line does nothing.
using action = std::function<void(session&)>;

// Every command's arguments live here, as CLI11 writes into them by reference.
struct arguments {
    global_options global;
    std::string account;
    account_choice new_account;
    std::string file;
    std::string name;  // a new one
    import_choice imported;
    bool with_keys = false;
    series_choice series;
    std::string token_id;
    token_choice token;
    bool operator_token = false;
    device_choice new_device;
    std::string device;
    bool yes = false;
    bool cancel = false;
    bool here = false;
    std::string client_id;
    remote_choice remote;
    slot_filter slots{.state = {}, .account = {}, .limit = 100};
    audit_filter audited{.account = {}, .limit = 100};
    hook_choice hook;
    doctor_choice doctor;
    bool check_failed = false;
    action chosen;
};

CLI::App* group(CLI::App& app, const char* name, const char* help) {
    return app.add_subcommand(name, help)->require_subcommand(0, 1);  // none: its help
}

// A command: what it is called, what it is for, what it does.
CLI::App* command(CLI::App& parent, const char* name, const char* help, arguments& a, action does) {
    CLI::App* const made = parent.add_subcommand(name, help);
    made->callback([&a, does = std::move(does)] { a.chosen = does; });
    return made;
}

void add_globals(CLI::App& app, arguments& a) {
    app.add_option("--url", a.global.url,
                   "Server: http://HOST:PORT, https://HOST; without a scheme http on this machine "
                   "(localhost:8080, :8080), else https (else that of --data-dir, CALLSIGN_URL, "
                   "DATA_DIR/listen.url, http://127.0.0.1:8080)");
    app.add_option("--token", a.global.token,
                   "Operator's token (else CALLSIGN_TOKEN, DATA_DIR/admin.token)");
    app.add_option("--data-dir", a.global.data_dir,
                   "The server's directory (else CALLSIGN_STORE_DATA_DIR, callsign-data)")
        ->type_name("DIR");
    app.add_option("--cacert", a.global.ca_file,
                   "Who may vouch for an https server besides those the system trusts: a PEM file "
                   "(else CALLSIGN_CACERT)")
        ->type_name("FILE");
    app.add_option("--timeout", a.global.timeout, "How long to wait for an answer: 60s, a hook 1s");
    app.add_flag("--insecure", a.global.insecure,
                 "Send tokens and secrets in clear to a server on another machine");
    app.add_flag("--json", a.global.json, "Print one JSON object, for programs");
    app.add_option("--color", a.global.color, "Colours: on a terminal, unless NO_COLOR is set")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    app.set_version_flag("--version", "callsign " CALLSIGN_VERSION);
}

void add_account_commands(CLI::App& app, arguments& a) {
    CLI::App* const accounts = group(app, "account", "Owners of tasks");
    CLI::App* const create = command(*accounts, "create", "Make an account and its first token", a,
                                     [&a](session& s) { create_account(s, a.new_account); });
    create->add_option("NAME", a.new_account.name, "What it is called")->required();
    create->add_option("--prefix", a.new_account.prefix, "Of its numbers: SYN gives SYN-1")
        ->required();
    create->add_flag("--opaque", a.new_account.opaque,
                     "Its clients encrypt everything: a Taskwarrior account nobody here can read");
    create->add_option("--client-id", a.new_account.client_id,
                       "Of the Taskwarriors that have it already; else one is drawn");
    create->add_option("--remote", a.new_account.remote,
                       "Its tasks live on this TaskChampion sync server (a URL), which stays what "
                       "its Taskwarriors sync with");
    create
        ->add_option("--secret-file", a.new_account.secret_file,
                     "Of a remote one: holds its Taskwarriors' sync.encryption_secret; - is "
                     "standard input")
        ->type_name("FILE");
    command(*accounts, "list", "All accounts", a, list_accounts);
    CLI::App* const show = command(*accounts, "show", "One account: where it lives, how far it is",
                                   a, [&a](session& s) { show_account(s, a.account); });
    show->add_option("ACCOUNT", a.account, "Which")->required();
    CLI::App* const rename = command(*accounts, "rename", "Give an account another name", a,
                                     [&a](session& s) { rename_account(s, a.account, a.name); });
    rename->add_option("ACCOUNT", a.account, "Which")->required();
    rename->add_option("NAME", a.name, "What it is called from now on")->required();
    CLI::App* const disable =
        command(*accounts, "disable", "Let nobody in: its tokens and devices are refused", a,
                [&a](session& s) { open_account(s, a.account, false); });
    disable->add_option("ACCOUNT", a.account, "Which")->required();
    CLI::App* const enable =
        command(*accounts, "enable", "Let them in again; a deleted account is had back", a,
                [&a](session& s) { open_account(s, a.account, true); });
    enable->add_option("ACCOUNT", a.account, "Which")->required();
    CLI::App* const remove =
        command(*accounts, "delete", "Close an account; its tasks go when its grace is over", a,
                [&a](session& s) { delete_account(s, a.account, a.yes); });
    remove->add_option("ACCOUNT", a.account, "Which")->required();
    remove->add_flag("--yes", a.yes, "Do not ask");
    CLI::App* const remote =
        command(*accounts, "remote",
                "Say anew where an account's tasks live, what opens them, or just to go on", a,
                [&a](session& s) { change_remote(s, a.account, a.remote, a.yes); });
    remote->add_option("ACCOUNT", a.account, "Which")->required();
    remote->add_option("--to", a.remote.url,
                       "The server's URL from now on; its tasks are the same");
    remote
        ->add_option("--secret-file", a.remote.secret_file,
                     "Holds its Taskwarriors' sync.encryption_secret; - is standard input")
        ->type_name("FILE");
    remote->add_flag("--accept-loss", a.remote.accept_loss,
                     "The server has lost versions: what it has now holds");
    remote->add_flag("--yes", a.yes, "Do not ask");
    CLI::App* const move = command(
        *accounts, "move",
        "Let an account's tasks live here instead of elsewhere, or elsewhere instead of here", a,
        [&a](session& s) {
            if (a.here) return move_account_here(s, a.account, a.yes);
            move_account_there(s, a.account, a.remote, a.client_id, a.yes);
        });
    move->add_option("ACCOUNT", a.account, "Which")->required();
    CLI::Option_group* const where = move->add_option_group("where");
    where->add_flag("--here", a.here, "Here");
    CLI::Option* const there = where->add_option(
        "--to", a.remote.url,
        "A TaskChampion sync server on which this client id is new, or its Taskwarriors' already");
    where->require_option(1);
    CLI::Option* const client_id =
        move->add_option("--client-id", a.client_id, "Its Taskwarriors' sync.server.client_id");
    CLI::Option* const secret = move->add_option("--secret-file", a.remote.secret_file,
                                                 "Holds their sync.encryption_secret; - is "
                                                 "standard input")
                                    ->type_name("FILE");
    client_id->needs(there);
    secret->needs(there);
    there->needs(client_id);
    there->needs(secret);
    move->add_flag("--yes", a.yes, "Do not ask");
    CLI::App* const manage =
        command(*accounts, "manage",
                "Make an opaque account managed: from then on the server can read its tasks", a,
                [&a](session& s) {
                    if (a.cancel) return cancel_managing(s, a.account);
                    manage_account(s, a.account, a.file, a.yes);
                });
    manage->add_option("ACCOUNT", a.account, "Whose")->required();
    // One of the two.
    CLI::Option_group* const how = manage->add_option_group("how");
    how->add_option("--secret-file", a.file,
                    "Holds its Taskwarriors' sync.encryption_secret; - is standard input")
        ->type_name("FILE");
    how->add_flag("--cancel", a.cancel, "Call it off while it is under way; nothing is changed");
    how->require_option(1);
    manage->add_flag("--yes", a.yes, "Do not ask");
}

// An account's token, or the operator's: one of the two must be meant.
void check_token_choice(arguments& a) {
    if (a.operator_token != a.token.account.empty()) {
        throw failure("say whose token it is: an ACCOUNT, or --operator",
                      exit_status::not_understood);
    }
    if (a.operator_token && !a.token.scope.empty() && a.token.scope != "admin") {
        throw failure("an operator's token has the scope admin", exit_status::not_understood);
    }
    if (a.token.scope.empty()) a.token.scope = a.operator_token ? "admin" : "write";
}

void add_token_commands(CLI::App& app, arguments& a) {
    CLI::App* const tokens = group(app, "token", "What opens an account");
    CLI::App* const create =
        command(*tokens, "create", "Make a token; it is shown once", a, [&a](session& s) {
            check_token_choice(a);
            create_token(s, a.token);
        });
    create->add_option("ACCOUNT", a.token.account, "Whose");
    create->add_flag("--operator", a.operator_token, "The operator's, instead of an account's");
    create->add_option("--name", a.token.name, "To tell it from others")->required();
    create->add_option("--scope", a.token.scope, "What it may do: write, unless said")
        ->check(CLI::IsMember({"read", "write", "admin"}));
    create->add_option("--expires-in", a.token.expires_in,
                       "How long it holds: 30d; else until it is revoked");
    CLI::App* const list = command(*tokens, "list", "An account's tokens", a,
                                   [&a](session& s) { list_tokens(s, a.account); });
    list->add_option("ACCOUNT", a.account, "Whose")->required();
    CLI::App* const revoke = command(*tokens, "revoke", "End a token for good", a,
                                     [&a](session& s) { revoke_token(s, a.token_id, a.yes); });
    revoke->add_option("TOKEN_ID", a.token_id, "As `token list` shows it")->required();
    revoke->add_flag("--yes", a.yes, "Do not ask");
}

void add_device_commands(CLI::App& app, arguments& a) {
    CLI::App* const devices = group(app, "device", "Taskwarriors that sync with a managed account");
    CLI::App* const add =
        command(*devices, "add", "Let one more sync; prints the lines for its .taskrc, once", a,
                [&a](session& s) { add_device(s, a.account, a.new_device); });
    add->add_option("ACCOUNT", a.account, "Whose")->required();
    add->add_option("--name", a.new_device.name, "To tell it from others")->required();
    add->add_flag("--taskrc", a.new_device.taskrc_only, "Print those lines and nothing else");
    CLI::App* const list = command(*devices, "list", "An account's devices", a,
                                   [&a](session& s) { list_devices(s, a.account); });
    list->add_option("ACCOUNT", a.account, "Whose")->required();
    CLI::App* const revoke =
        command(*devices, "revoke", "End a device's syncing for good", a,
                [&a](session& s) { revoke_device(s, a.account, a.device, a.yes); });
    revoke->add_option("ACCOUNT", a.account, "Whose")->required();
    revoke->add_option("NAME", a.device, "As `device list` shows it")->required();
    revoke->add_flag("--yes", a.yes, "Do not ask");
}

void add_series_options(CLI::App& to, series_choice& choice) {
    to.add_option("--project", choice.project, "Tasks of this project take their numbers here");
    to.add_option("--reset", choice.reset, "When it begins again: never, daily, monthly, yearly")
        ->check(CLI::IsMember({"never", "daily", "monthly", "yearly"}));
    to.add_option("--time-zone", choice.time_zone, "Whose days, months and years: Europe/Berlin");
    to.add_option("--next", choice.next, "The number it takes next")->check(CLI::PositiveNumber);
}

void add_series_commands(CLI::App& app, arguments& a) {
    CLI::App* const series = group(app, "series", "Runs of numbers");
    CLI::App* const create = command(*series, "create", "Add a run of numbers to an account", a,
                                     [&a](session& s) { create_series(s, a.account, a.series); });
    create->add_option("ACCOUNT", a.account, "Whose")->required();
    create->add_option("--prefix", a.series.prefix, "Of its numbers")->required();
    add_series_options(*create, a.series);
    create->add_flag("--allow-gaps", a.series.allows_gaps, "Its next number may be raised later");
    CLI::App* const edit = command(*series, "edit", "Change a run of numbers", a,
                                   [&a](session& s) { edit_series(s, a.account, a.series); });
    edit->add_option("ACCOUNT", a.account, "Whose")->required();
    edit->add_option("PREFIX", a.series.prefix, "As it is called, or was once")->required();
    edit->add_option("--rename", a.series.new_prefix,
                     "Its prefix from now on; keys with the old "
                     "one go on");
    add_series_options(*edit, a.series);
    edit->add_flag("--no-project", a.series.no_project, "No project's tasks take numbers here")
        ->excludes("--project");
    edit->add_flag("--allow-gaps", a.series.allows_gaps, "Its next number may be raised");
    edit->add_flag("--no-gaps", a.series.no_gaps, "It may not")->excludes("--allow-gaps");
    edit->add_flag("--archive", a.series.archive, "It takes no more numbers");
    edit->add_flag("--restore", a.series.restore, "It does again")->excludes("--archive");
    CLI::App* const resume =
        command(*series, "resume", "Let a run of numbers go on after a restore", a,
                [&a](session& s) { resume_series(s, a.account, a.series.prefix, a.series.next); });
    resume->add_option("PREFIX", a.series.prefix, "As it is called, or was once")->required();
    resume->add_option("--account", a.account, "Whose")->required();
    resume
        ->add_option("--at", a.series.next,
                     "Its next number: higher than any that was given (the one after the last that "
                     "the backup knows, unless said)")
        ->check(CLI::PositiveNumber);
    CLI::App* const list = command(*series, "list", "An account's runs of numbers", a,
                                   [&a](session& s) { list_series(s, a.account); });
    list->add_option("ACCOUNT", a.account, "Whose")->required();
}

void add_operating_commands(CLI::App& app, arguments& a) {
    CLI::App* const slots = group(app, "slots", "Creations: pending, committed, failed");
    CLI::App* const list = command(*slots, "list", "Slots, oldest first", a,
                                   [&a](session& s) { list_slots(s, a.slots); });
    list->add_option("--state", a.slots.state, "Only these")
        ->check(CLI::IsMember({"pending", "in_flight", "committed", "failed"}));
    list->add_option("--account", a.slots.account, "Only this account's");
    list->add_option("--limit", a.slots.limit, "At most so many: 100, unless said")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
    CLI::App* const reaper = group(app, "reaper", "What ends creations nobody finishes");
    command(*reaper, "status", "How it is set, what it did, which way to turn the window", a,
            show_reaper);
    command(*reaper, "sweep", "Look at every slot now", a, sweep);
    CLI::App* const imports = group(app, "import", "Take over what others keep");
    CLI::App* const reference =
        command(*imports, "taskchampion-sync-server", "The reference server's SQLite file", a,
                [&a](session& s) { import_taskchampion(s, a.file, a.imported); });
    reference->add_option("FILE", a.file, "taskchampion-sync-server.sqlite3; it is only read")
        ->required();
    reference->add_option("--client-id", a.imported.client_id, "Of the file's clients this one");
    reference->add_option("--account", a.imported.account, "What its account is called");
    reference->add_option("--prefix", a.imported.prefix, "What its tasks are called");
    CLI::App* const taskwarrior =
        command(*imports, "taskwarrior", "What `task export` prints, into a managed account", a,
                [&a](session& s) { import_taskwarrior(s, a.file, a.account, a.with_keys); });
    taskwarrior->add_option("FILE", a.file, "The export; - is standard input")->required();
    taskwarrior->add_option("--account", a.account, "Whose tasks they become")->required();
    taskwarrior->add_flag("--with-keys", a.with_keys,
                          "Keep the keys that they have; held series go on behind them");
    CLI::App* const numbers =
        command(*imports, "numbers", "Tasks that have numbers already, which they keep", a,
                [&a](session& s) { import_numbers(s, a.file, a.account); });
    numbers
        ->add_option("FILE", a.file,
                     "CSV with the columns prefix, number, uuid, title, created_at; - is standard "
                     "input")
        ->required();
    numbers->add_option("--account", a.account, "Whose tasks they become")->required();
    CLI::App* const master_key =
        group(app, "master-key", "What the keys of devices are kept under");
    CLI::App* const fresh =
        command(*master_key, "new", "Write a new one to a file; needs no server", a,
                [&a](session& s) { make_master_key(s, a.file); });
    fresh->add_option("FILE", a.file, "Where to; it must not be there yet")->required();
    CLI::App* const rotate =
        command(*master_key, "rotate", "Put a new one before those of a file; needs no server", a,
                [&a](session& s) { rotate_master_key(s, a.file); });
    rotate->add_option("FILE", a.file, "secrets.master_key_file")->required();
    CLI::App* const drop =
        command(*master_key, "drop-former",
                "Leave the new one alone in a file, once nothing is kept under those before it", a,
                [&a](session& s) { drop_former_keys(s, a.file); });
    drop->add_option("FILE", a.file, "secrets.master_key_file")->required();
    CLI::App* const audit =
        command(app, "audit", "Who changed what about accounts and the server, latest first", a,
                [&a](session& s) { show_audit_log(s, a.audited); });
    audit->add_option("--account", a.audited.account, "Only what was about this account");
    audit->add_option("--limit", a.audited.limit, "At most so many: 100, unless said")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
    CLI::App* const repair = command(
        app, "repair-clock", "Set back the time of a store that a wrong clock put ahead; no server",
        a, [&a](session& s) { repair_clock(s, a.yes); });
    repair->add_flag("--yes", a.yes, "Do not ask");
    CLI::App* const backup =
        command(app, "backup", "Copy the whole store to a directory of the server's, while it runs",
                a, [&a](session& s) { make_backup(s, a.file); });
    backup->add_option("DIR", a.file, "Not there yet, or empty")->required();
    CLI::App* const restore =
        command(app, "restore", "Put a backup in the place of a data directory's store; no server",
                a, [&a](session& s) { cli::restore(s, a.file, a.yes); });
    restore->add_option("DIR", a.file, "What `callsign backup` made")->required();
    restore->add_flag("--yes", a.yes, "Do not ask");
    CLI::App* const doctor =
        command(app, "doctor", "Look for what is wrong with a server's surroundings, or will be", a,
                [&a](session& s) { a.check_failed = !examine(s, a.doctor); });
    doctor->add_option("--config", a.doctor.config_file, "The server's configuration")
        ->type_name("FILE");
    command(app, "check", "Prove that a data directory is sound; needs no server", a,
            [&a](session& s) { a.check_failed = !check(s); });
}

// What is the same for all of them.
void add_hook_options(CLI::App& to, arguments& a) {
    to.add_option("--data", a.hook.data_dir,
                  "Taskwarrior's directory (else TASKDATA, what `task` says, ~/.task)")
        ->type_name("DIR");
    to.add_option("--attribute", a.hook.attribute, "Where the key is on a task: key");
}

void add_hook_event(CLI::App& hooks, const char* name, const char* help, hook_event event,
                    arguments& a) {
    CLI::App* const hook =
        command(hooks, name, help, a, [&a, event](session& s) { run_hook(s, event, a.hook); });
    add_hook_options(*hook, a);
    hook->add_option("WORDS", a.hook.words, "As Taskwarrior passes them: api:2 data:DIR ...");
}

void add_hook_commands(CLI::App& app, arguments& a) {
    CLI::App* const hooks =
        group(app, "hook", "Keys for the Taskwarriors of an opaque account, which set them");
    CLI::App* const install =
        command(*hooks, "install", "Write the hooks into Taskwarrior's directory", a,
                [&a](session& s) { install_hooks(s, a.hook); });
    add_hook_options(*install, a);
    install
        ->add_option("--token-file", a.hook.token_file,
                     "Holds a write token of the account (else CALLSIGN_TOKEN); - is standard "
                     "input")
        ->type_name("FILE");
    install->add_flag("--no-project", a.hook.no_project,
                      "The server is not told tasks' projects, nor do series follow them");
    install->add_flag("--yes", a.hook.yes, "Overwrite hooks that are not callsign's");
    CLI::App* const late =
        command(*hooks, "catch-up", "Give tasks their keys that were made without the server", a,
                [&a](session& s) { catch_up(s, a.hook); });
    add_hook_options(*late, a);
    late->add_flag("--all", a.hook.all, "Every other task without a key of its own, too");
    for (CLI::App* const each : {install, late}) {
        each->add_option("--task", a.hook.task_program, "Taskwarrior's program: task");
    }
    add_hook_event(*hooks, "on-add", "Taskwarrior runs it for each new task", hook_event::add, a);
    add_hook_event(*hooks, "on-modify", "Taskwarrior runs it for each change of a task",
                   hook_event::modify, a);
}

void define(CLI::App& app, arguments& a) {
    app.fallthrough();  // --json and the like may come after the command
    app.require_subcommand(0, 1);
    add_globals(app, a);
    add_account_commands(app, a);
    add_token_commands(app, a);
    add_device_commands(app, a);
    add_series_commands(app, a);
    add_operating_commands(app, a);
    add_hook_commands(app, a);
}

constexpr const char* about =
    "Callsign's command line: accounts, tokens, series and the health of a server.";

// --help and --version print what they promise and choose nothing: true.
bool parse(CLI::App& app, const std::vector<std::string>& words, const surroundings& around) {
    std::vector<std::string> from_the_back(words.rbegin(), words.rend());  // as CLI11 takes them
    try {
        app.parse(from_the_back);
        return false;
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() != 0) {
            throw failure(what_is_wrong(app, words, e.what()), exit_status::not_understood);
        }
        app.exit(e, around.out, around.err);
        return true;
    }
}

}  // namespace

void show_definitions(const std::function<void(const CLI::App&)>& to) {
    arguments a;
    CLI::App app(about, "callsign");
    define(app, a);
    to(app);
}

int run(const std::vector<std::string>& words, const surroundings& around) {
    // Its task must pass, even if the command line that Taskwarrior was told is wrong.
    const std::optional<hook_event> hook = hook_event_of(words);
    arguments a;
    CLI::App app(about, "callsign");
    define(app, a);
    try {
        const bool is_told = parse(app, words, around);
        // No command, or a group of them.
        if (!a.chosen && !is_told) around.out << app.help();
        if (!a.chosen) return static_cast<int>(exit_status::done);
        session s(around, a.global);
        a.chosen(s);
        around.out.flush();
        if (!around.out) throw failure("the answer could not be written");
        return static_cast<int>(a.check_failed ? exit_status::failed : exit_status::done);
    } catch (const std::exception& e) {
        if (hook) {
            let_pass(around, *hook, e.what());
            return static_cast<int>(exit_status::done);
        }
        const bool colors = colors_err(around, color_choice_of(a.global.color));
        around.err << colored(colors, color::red, "callsign:") << ' ' << e.what() << '\n';
        const auto* const known = dynamic_cast<const failure*>(&e);
        return static_cast<int>(known ? known->status() : exit_status::failed);
    }
}

}  // namespace callsign::cli
