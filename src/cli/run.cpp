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

// The action of a command. Called after parsing, so that an invalid line does nothing.
using action = std::function<void(session&)>;

// The arguments of all commands; CLI11 writes into them by reference.
struct arguments {
    global_options global;
    std::string account;
    account_choice new_account;
    std::string file;
    std::string name;  // the new name
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
    std::string database;
    store_move moved;
    bool check_failed = false;
    action chosen;
};

CLI::App* group(CLI::App& app, const char* name, const char* help) {
    return app.add_subcommand(name, help)->require_subcommand(0, 1);  // none: its help
}

// Adds a command with its name, help and action.
CLI::App* command(CLI::App& parent, const char* name, const char* help, arguments& a, action does) {
    CLI::App* const made = parent.add_subcommand(name, help);
    made->callback([&a, does = std::move(does)] { a.chosen = does; });
    return made;
}

void add_globals(CLI::App& app, arguments& a) {
    app.add_option(
        "--url", a.global.url,
        "Server URL, such as https://HOST; without a scheme http for a loopback host "
        "(localhost:8080, :8080), otherwise https (default: of --data-dir, CALLSIGN_URL, "
        "DATA_DIR/listen.url, http://127.0.0.1:8080)");
    app.add_option("--token", a.global.token,
                   "Operator token (default: CALLSIGN_TOKEN, DATA_DIR/admin.token)");
    app.add_option("--data-dir", a.global.data_dir,
                   "Data directory of the server (default: CALLSIGN_STORE_DATA_DIR, callsign-data)")
        ->type_name("DIR");
    app.add_option("--cacert", a.global.ca_file,
                   "PEM file with additional CA certificates (default: CALLSIGN_CACERT)")
        ->type_name("FILE");
    app.add_option("--timeout", a.global.timeout, "Timeout of a request (default: 60s; hooks: 1s)");
    app.add_flag("--insecure", a.global.insecure,
                 "Allow sending tokens and secrets unencrypted to another host");
    app.add_flag("--json", a.global.json, "Print one JSON object");
    app.add_option("--color", a.global.color,
                   "Colours (default: auto, on a terminal without NO_COLOR)")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    app.set_version_flag("--version", "callsign " CALLSIGN_VERSION);
}

void add_account_commands(CLI::App& app, arguments& a) {
    CLI::App* const accounts = group(app, "account", "Manage accounts");
    CLI::App* const create = command(*accounts, "create", "Create an account and its first token",
                                     a, [&a](session& s) { create_account(s, a.new_account); });
    create->add_option("NAME", a.new_account.name, "Account name")->required();
    create
        ->add_option("--prefix", a.new_account.prefix,
                     "Prefix of the default series (SYN numbers tasks SYN-1, SYN-2, ...)")
        ->required();
    create->add_flag("--opaque", a.new_account.opaque,
                     "Create an opaque account, unreadable by the server");
    create->add_option("--client-id", a.new_account.client_id,
                       "Client ID of existing replicas (default: a new one)");
    create->add_option(
        "--remote", a.new_account.remote,
        "URL of the TaskChampion sync server that keeps the tasks; replicas continue to "
        "sync with it");
    create
        ->add_option(
            "--secret-file", a.new_account.secret_file,
            "File with the sync.encryption_secret of the replicas, for --remote (-: standard "
            "input)")
        ->type_name("FILE");
    command(*accounts, "list", "List all accounts", a, list_accounts);
    CLI::App* const show =
        command(*accounts, "show", "Show an account: its kind, remote server and progress", a,
                [&a](session& s) { show_account(s, a.account); });
    show->add_option("ACCOUNT", a.account, "Account name")->required();
    CLI::App* const rename = command(*accounts, "rename", "Rename an account", a,
                                     [&a](session& s) { rename_account(s, a.account, a.name); });
    rename->add_option("ACCOUNT", a.account, "Account name")->required();
    rename->add_option("NAME", a.name, "New name")->required();
    CLI::App* const disable =
        command(*accounts, "disable", "Disable an account: reject its tokens and devices", a,
                [&a](session& s) { set_account_enabled(s, a.account, false); });
    disable->add_option("ACCOUNT", a.account, "Account name")->required();
    CLI::App* const enable =
        command(*accounts, "enable", "Enable a disabled account or restore a deleted one", a,
                [&a](session& s) { set_account_enabled(s, a.account, true); });
    enable->add_option("ACCOUNT", a.account, "Account name")->required();
    CLI::App* const remove =
        command(*accounts, "delete", "Delete an account (data is kept for the grace period)", a,
                [&a](session& s) { delete_account(s, a.account, a.yes); });
    remove->add_option("ACCOUNT", a.account, "Account name")->required();
    remove->add_flag("--yes", a.yes, "Skip the confirmation prompt");
    CLI::App* const remote = command(
        *accounts, "remote", "Change a remote account's URL or secret, or resume a halted one", a,
        [&a](session& s) { change_remote(s, a.account, a.remote, a.yes); });
    remote->add_option("ACCOUNT", a.account, "Account name")->required();
    remote->add_option("--to", a.remote.url,
                       "New URL of the remote server, which must have the same tasks");
    remote
        ->add_option("--secret-file", a.remote.secret_file,
                     "File with the sync.encryption_secret of the replicas (-: standard input)")
        ->type_name("FILE");
    remote->add_flag("--accept-loss", a.remote.accept_loss,
                     "Accept that the remote server has lost versions");
    remote->add_flag("--yes", a.yes, "Skip the confirmation prompt");
    CLI::App* const move =
        command(*accounts, "move", "Move an account to this server or to a remote server", a,
                [&a](session& s) {
                    if (a.here) return move_account_to_local(s, a.account, a.yes);
                    move_account_to_remote(s, a.account, a.remote, a.client_id, a.yes);
                });
    move->add_option("ACCOUNT", a.account, "Account name")->required();
    CLI::Option_group* const where = move->add_option_group("where");
    where->add_flag("--here", a.here, "Move it to this server");
    CLI::Option* const there = where->add_option(
        "--to", a.remote.url,
        "URL of a TaskChampion sync server that has no history of the client ID, or that of the "
        "account's replicas");
    where->require_option(1);
    CLI::Option* const client_id =
        move->add_option("--client-id", a.client_id, "The sync.server.client_id of the replicas");
    CLI::Option* const secret = move->add_option("--secret-file", a.remote.secret_file,
                                                 "File with the sync.encryption_secret of the "
                                                 "replicas (-: standard input)")
                                    ->type_name("FILE");
    client_id->needs(there);
    secret->needs(there);
    there->needs(client_id);
    there->needs(secret);
    move->add_flag("--yes", a.yes, "Skip the confirmation prompt");
    CLI::App* const manage = command(
        *accounts, "manage", "Convert an opaque account to a managed one, readable by the server",
        a, [&a](session& s) {
            if (a.cancel) return cancel_managing(s, a.account);
            manage_account(s, a.account, a.file, a.yes);
        });
    manage->add_option("ACCOUNT", a.account, "Account name")->required();
    // Exactly one of the two.
    CLI::Option_group* const how = manage->add_option_group("how");
    how->add_option("--secret-file", a.file,
                    "File with the sync.encryption_secret of the replicas (-: standard input)")
        ->type_name("FILE");
    how->add_flag("--cancel", a.cancel,
                  "Cancel a conversion in progress; the account stays opaque");
    how->require_option(1);
    manage->add_flag("--yes", a.yes, "Skip the confirmation prompt");
}

// Requires exactly one of an account and --operator.
void check_token_choice(arguments& a) {
    if (a.operator_token != a.token.account.empty()) {
        throw failure("specify ACCOUNT or --operator", exit_status::not_understood);
    }
    if (a.operator_token && !a.token.scope.empty() && a.token.scope != "admin") {
        throw failure("operator tokens have the scope admin", exit_status::not_understood);
    }
    if (a.token.scope.empty()) a.token.scope = a.operator_token ? "admin" : "write";
}

void add_token_commands(CLI::App& app, arguments& a) {
    CLI::App* const tokens = group(app, "token", "Manage API tokens");
    CLI::App* const create =
        command(*tokens, "create", "Create an API token, which is shown once", a, [&a](session& s) {
            check_token_choice(a);
            create_token(s, a.token);
        });
    create->add_option("ACCOUNT", a.token.account, "Account name");
    create->add_flag("--operator", a.operator_token, "Create an operator token");
    create->add_option("--name", a.token.name, "Token name")->required();
    create
        ->add_option("--scope", a.token.scope,
                     "Token scope (default: write; operator tokens: admin)")
        ->check(CLI::IsMember({"read", "write", "admin"}));
    create->add_option("--expires-in", a.token.expires_in,
                       "Lifetime, such as 30d (default: no expiry)");
    CLI::App* const list = command(*tokens, "list", "List the tokens of an account", a,
                                   [&a](session& s) { list_tokens(s, a.account); });
    list->add_option("ACCOUNT", a.account, "Account name")->required();
    CLI::App* const revoke = command(*tokens, "revoke", "Revoke a token permanently", a,
                                     [&a](session& s) { revoke_token(s, a.token_id, a.yes); });
    revoke->add_option("TOKEN_ID", a.token_id, "Token ID, from `callsign token list`")->required();
    revoke->add_flag("--yes", a.yes, "Skip the confirmation prompt");
}

void add_device_commands(CLI::App& app, arguments& a) {
    CLI::App* const devices = group(app, "device", "Manage the devices of managed accounts");
    CLI::App* const add = command(*devices, "add", "Add a device and print its .taskrc lines, once",
                                  a, [&a](session& s) { add_device(s, a.account, a.new_device); });
    add->add_option("ACCOUNT", a.account, "Account name")->required();
    add->add_option("--name", a.new_device.name, "Device name")->required();
    add->add_flag("--taskrc", a.new_device.taskrc_only, "Print only the .taskrc lines");
    CLI::App* const list = command(*devices, "list", "List the devices of an account", a,
                                   [&a](session& s) { list_devices(s, a.account); });
    list->add_option("ACCOUNT", a.account, "Account name")->required();
    CLI::App* const revoke =
        command(*devices, "revoke", "Revoke a device permanently", a,
                [&a](session& s) { revoke_device(s, a.account, a.device, a.yes); });
    revoke->add_option("ACCOUNT", a.account, "Account name")->required();
    revoke->add_option("NAME", a.device, "Device name, from `callsign device list`")->required();
    revoke->add_flag("--yes", a.yes, "Skip the confirmation prompt");
}

void add_series_options(CLI::App& to, series_choice& choice) {
    to.add_option("--project", choice.project, "Project whose tasks are numbered by this series");
    to.add_option("--reset", choice.reset, "Restart of the numbers (never, daily, monthly, yearly)")
        ->check(CLI::IsMember({"never", "daily", "monthly", "yearly"}));
    to.add_option("--time-zone", choice.time_zone, "Time zone of --reset, such as Europe/Berlin");
    to.add_option("--next", choice.next, "Next number")->check(CLI::PositiveNumber);
}

void add_series_commands(CLI::App& app, arguments& a) {
    CLI::App* const series = group(app, "series", "Manage number series");
    CLI::App* const create = command(*series, "create", "Create a series in an account", a,
                                     [&a](session& s) { create_series(s, a.account, a.series); });
    create->add_option("ACCOUNT", a.account, "Account name")->required();
    create->add_option("--prefix", a.series.prefix, "Prefix of its keys")->required();
    add_series_options(*create, a.series);
    create->add_flag("--allow-gaps", a.series.allows_gaps,
                     "Allow gaps: the next number may be raised");
    CLI::App* const edit = command(*series, "edit", "Change a series", a,
                                   [&a](session& s) { edit_series(s, a.account, a.series); });
    edit->add_option("ACCOUNT", a.account, "Account name")->required();
    edit->add_option("PREFIX", a.series.prefix, "Current or former prefix")->required();
    edit->add_option("--rename", a.series.new_prefix,
                     "New prefix; keys with the former one stay valid");
    add_series_options(*edit, a.series);
    edit->add_flag("--no-project", a.series.no_project, "Remove the project")
        ->excludes("--project");
    edit->add_flag("--allow-gaps", a.series.allows_gaps,
                   "Allow gaps: the next number may be raised");
    edit->add_flag("--no-gaps", a.series.no_gaps, "Disallow gaps")->excludes("--allow-gaps");
    edit->add_flag("--archive", a.series.archive, "Archive the series: assign no more numbers");
    edit->add_flag("--restore", a.series.restore, "Unarchive the series")->excludes("--archive");
    CLI::App* const resume =
        command(*series, "resume", "Resume a series that is held after a restore", a,
                [&a](session& s) { resume_series(s, a.account, a.series.prefix, a.series.next); });
    resume->add_option("PREFIX", a.series.prefix, "Current or former prefix")->required();
    resume->add_option("--account", a.account, "Account name")->required();
    resume
        ->add_option("--at", a.series.next,
                     "Next number, above every number assigned before (default: the one after the "
                     "last number in the backup)")
        ->check(CLI::PositiveNumber);
    CLI::App* const list = command(*series, "list", "List the series of an account", a,
                                   [&a](session& s) { list_series(s, a.account); });
    list->add_option("ACCOUNT", a.account, "Account name")->required();
}

void add_operating_commands(CLI::App& app, arguments& a) {
    CLI::App* const slots = group(app, "slots", "Inspect creations: pending, committed, failed");
    CLI::App* const list = command(*slots, "list", "List slots, oldest first", a,
                                   [&a](session& s) { list_slots(s, a.slots); });
    list->add_option("--state", a.slots.state, "State to list (default: all)")
        ->check(CLI::IsMember({"pending", "in_flight", "committed", "failed"}));
    list->add_option("--account", a.slots.account, "Account to list (default: all)");
    list->add_option("--limit", a.slots.limit, "Maximum number of entries (default: 100)")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
    CLI::App* const reaper =
        group(app, "reaper", "Inspect and run the reaper, which fails abandoned creations");
    command(*reaper, "status", "Show settings, last results and advice on the window", a,
            show_reaper);
    command(*reaper, "sweep", "Run a sweep now", a, sweep);
    CLI::App* const imports = group(app, "import", "Import data of other programs");
    CLI::App* const reference = command(
        *imports, "taskchampion-sync-server", "Import the SQLite file of taskchampion-sync-server",
        a, [&a](session& s) { import_taskchampion(s, a.file, a.imported); });
    reference
        ->add_option("FILE", a.file, "Path of taskchampion-sync-server.sqlite3, which is only read")
        ->required();
    reference->add_option("--client-id", a.imported.client_id,
                          "Client ID to import (default: all)");
    reference->add_option("--account", a.imported.account, "Name of the client's account");
    reference->add_option("--prefix", a.imported.prefix, "Prefix of the account's default series");
    CLI::App* const taskwarrior = command(
        *imports, "taskwarrior", "Import the output of `task export` into a managed account", a,
        [&a](session& s) { import_taskwarrior(s, a.file, a.account, a.with_keys); });
    taskwarrior->add_option("FILE", a.file, "Path of the export (-: standard input)")->required();
    taskwarrior->add_option("--account", a.account, "Account to import into")->required();
    taskwarrior->add_flag("--with-keys", a.with_keys,
                          "Keep the tasks' keys; held series resume after them");
    CLI::App* const numbers =
        command(*imports, "numbers", "Import tasks that keep their numbers", a,
                [&a](session& s) { import_numbers(s, a.file, a.account); });
    numbers
        ->add_option(
            "FILE", a.file,
            "CSV file with the columns prefix, number, uuid, title, created_at (-: standard "
            "input)")
        ->required();
    numbers->add_option("--account", a.account, "Account to import into")->required();
    CLI::App* const master_key =
        group(app, "master-key", "Manage the master key, which encrypts the keys of devices");
    CLI::App* const fresh = command(*master_key, "new", "Create a master key file; needs no server",
                                    a, [&a](session& s) { make_master_key(s, a.file); });
    fresh->add_option("FILE", a.file, "Path of the new file, which must not exist")->required();
    CLI::App* const rotate =
        command(*master_key, "rotate", "Add a new key to a master key file; needs no server", a,
                [&a](session& s) { rotate_master_key(s, a.file); });
    rotate->add_option("FILE", a.file, "Path of secrets.master_key_file")->required();
    CLI::App* const drop =
        command(*master_key, "drop-former",
                "Remove former keys from a master key file, once nothing is encrypted with them", a,
                [&a](session& s) { drop_former_keys(s, a.file); });
    drop->add_option("FILE", a.file, "Path of secrets.master_key_file")->required();
    CLI::App* const audit = command(app, "audit", "Show the audit log, newest first", a,
                                    [&a](session& s) { show_audit_log(s, a.audited); });
    audit->add_option("--account", a.audited.account, "Account to show (default: all)");
    audit->add_option("--limit", a.audited.limit, "Maximum number of entries (default: 100)")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
    CLI::App* const repair =
        command(app, "repair-clock",
                "Correct future timestamps that a wrong clock left in a store; needs no server", a,
                [&a](session& s) { repair_clock(s, a.yes); });
    repair->add_flag("--yes", a.yes, "Skip the confirmation prompt");
    CLI::App* const backup =
        command(app, "backup", "Back up the store to a directory on the server's host", a,
                [&a](session& s) { make_backup(s, a.file); });
    backup->add_option("DIR", a.file, "Path of the backup, which must not exist or be empty")
        ->required();
    CLI::App* const restore =
        command(app, "restore", "Restore a backup to a data directory; needs no server", a,
                [&a](session& s) { cli::restore(s, a.file, a.yes); });
    restore->add_option("DIR", a.file, "Path of the backup")->required();
    restore->add_flag("--yes", a.yes, "Skip the confirmation prompt");
    CLI::App* const doctor =
        command(app, "doctor", "Check the server's configuration and environment", a,
                [&a](session& s) { a.check_failed = !examine(s, a.doctor); });
    doctor->add_option("--config", a.doctor.config_file, "Configuration file of the server")
        ->type_name("FILE");
    CLI::App* const check =
        command(app, "check", "Verify a data directory or a database, while a server may run", a,
                [&a](session& s) { a.check_failed = !cli::check(s, a.database); });
    check->add_option("--store", a.database, "URL of the database (default: the data directory)")
        ->type_name("URL");
    CLI::App* const move =
        command(app, "move", "Move the store to a database or to a data directory; needs no server",
                a, [&a](session& s) { a.check_failed = !move_store(s, a.moved); });
    move->add_option("--from", a.moved.from, "Data directory, or URL of a database")
        ->type_name("PLACE")
        ->required();
    move->add_option("--to", a.moved.to, "URL of a database, or a new data directory")
        ->type_name("PLACE")
        ->required();
    move->add_flag("--yes", a.moved.yes, "Skip the confirmation prompt");
    CLI::App* const restored =
        command(app, "restored", "Hold all series of a database that was restored; needs no server",
                a, [&a](session& s) { mark_restored(s, a.database, a.yes); });
    restored->add_option("--store", a.database, "URL of the database")
        ->type_name("URL")
        ->required();
    restored->add_flag("--yes", a.yes, "Skip the confirmation prompt");
}

// Options that all hook commands have.
void add_hook_options(CLI::App& to, arguments& a) {
    to.add_option("--data", a.hook.data_dir,
                  "Taskwarrior's data directory (default: TASKDATA, as `task` reports, ~/.task)")
        ->type_name("DIR");
    to.add_option("--attribute", a.hook.attribute, "Attribute of the key (default: key)");
}

void add_hook_event(CLI::App& hooks, const char* name, const char* help, hook_event event,
                    arguments& a) {
    CLI::App* const hook =
        command(hooks, name, help, a, [&a, event](session& s) { run_hook(s, event, a.hook); });
    add_hook_options(*hook, a);
    hook->add_option("WORDS", a.hook.words, "Arguments from Taskwarrior, such as api:2 data:DIR");
}

void add_hook_commands(CLI::App& app, arguments& a) {
    CLI::App* const hooks =
        group(app, "hook", "Manage Taskwarrior hooks, which set keys in opaque accounts");
    CLI::App* const install =
        command(*hooks, "install", "Install the hooks in Taskwarrior's data directory", a,
                [&a](session& s) { install_hooks(s, a.hook); });
    add_hook_options(*install, a);
    install
        ->add_option("--token-file", a.hook.token_file,
                     "File with a write token of the account (default: CALLSIGN_TOKEN; -: standard "
                     "input)")
        ->type_name("FILE");
    install->add_flag("--no-project", a.hook.no_project,
                      "Do not send projects to the server; series do not depend on them");
    install->add_flag("--yes", a.hook.yes, "Overwrite hooks of other programs");
    CLI::App* const late = command(*hooks, "catch-up",
                                   "Set the keys of tasks created while the server was unreachable",
                                   a, [&a](session& s) { catch_up(s, a.hook); });
    add_hook_options(*late, a);
    late->add_flag("--all", a.hook.all, "Include all other tasks without a key");
    for (CLI::App* const each : {install, late}) {
        each->add_option("--task", a.hook.task_program, "Path of Taskwarrior (default: task)");
    }
    add_hook_event(*hooks, "on-add", "Run by Taskwarrior for each new task", hook_event::add, a);
    add_hook_event(*hooks, "on-modify", "Run by Taskwarrior for each changed task",
                   hook_event::modify, a);
}

void define(CLI::App& app, arguments& a) {
    app.fallthrough();  // options such as --json may follow the command
    app.require_subcommand(0, 1);
    add_globals(app, a);
    add_account_commands(app, a);
    add_token_commands(app, a);
    add_device_commands(app, a);
    add_series_commands(app, a);
    add_operating_commands(app, a);
    add_hook_commands(app, a);
}

constexpr const char* about = "Administer a Callsign server.";

// Returns true if --help or --version has printed its text; no action is chosen then.
bool parse(CLI::App& app, const std::vector<std::string>& words, const cli_context& around) {
    std::vector<std::string> from_the_back(words.rbegin(), words.rend());  // in CLI11's order
    try {
        app.parse(from_the_back);
        return false;
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() != 0) {
            throw failure(usage_error(app, words, e.what()), exit_status::not_understood);
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

int run(const std::vector<std::string>& words, const cli_context& around) {
    // A hook's task must pass even if the command line is invalid.
    const std::optional<hook_event> hook = hook_event_of(words);
    arguments a;
    CLI::App app(about, "callsign");
    define(app, a);
    try {
        const bool is_told = parse(app, words, around);
        // Without a command, or with a group alone.
        if (!a.chosen && !is_told) around.out << app.help();
        if (!a.chosen) return static_cast<int>(exit_status::done);
        session s(around, a.global);
        a.chosen(s);
        around.out.flush();
        if (!around.out) throw failure("cannot write to standard output");
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
