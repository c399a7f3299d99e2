#pragma once
// What each command does, once the command line is parsed. All throw failure.

#include "session.hpp"

#include <cstdint>
#include <string>

namespace callsign::cli {

// Asks, where there is somebody to ask; else `yes` must have been said. `consequence`: the reason
// why that is wanted.
void confirm(session& s, bool yes, const std::string& question, const std::string& consequence);

struct account_choice {
    std::string name;
    std::string prefix;
    bool opaque = false;
    std::string client_id;  // of an opaque one; empty: the server draws it
    // Its tasks live on another server: there, with that secret, read from a file.
    std::string remote{};
    std::string secret_file{};
};
void create_account(session& s, const account_choice& choice);
void list_accounts(session& s);

void rename_account(session& s, const std::string& account, const std::string& name);

// Whether anybody gets in; one that was deleted is had back.
void open_account(session& s, const std::string& account, bool open);

void delete_account(session& s, const std::string& account, bool yes);
void show_account(session& s, const std::string& account);

struct remote_choice {
    std::string url;          // empty: as it is
    std::string secret_file;  // empty: as it is
    bool accept_loss = false;
};
void change_remote(session& s, const std::string& account, const remote_choice& choice, bool yes);
void move_account_here(session& s, const std::string& account, bool yes);
// `choice` names the server, `client_id` whose it is there. Returns when all is there; whoever does
// not wait for that stops nothing.
void move_account_there(session& s, const std::string& account, const remote_choice& choice,
                        const std::string& client_id, bool yes);
// `secret_file` holds what its Taskwarriors have as sync.encryption_secret; "-": standard input.
void manage_account(session& s, const std::string& account, const std::string& secret_file,
                    bool yes);
// While that is under way: it is called off, and changes nothing.
void cancel_managing(session& s, const std::string& account);

struct token_choice {
    std::string account;  // empty: the operator's
    std::string name;
    std::string scope;
    std::string expires_in;  // a duration; empty: it holds until it is revoked
};
void create_token(session& s, const token_choice& choice);
void list_tokens(session& s, const std::string& account);
void revoke_token(session& s, const std::string& id, bool yes);

struct device_choice {
    std::string name;
    bool taskrc_only = false;  // nothing but its lines, to be written to a file
};
void add_device(session& s, const std::string& account, const device_choice& choice);
void list_devices(session& s, const std::string& account);
void revoke_device(session& s, const std::string& account, const std::string& name, bool yes);

// What is empty is not said.
struct series_choice {
    std::string prefix;
    std::string new_prefix;
    std::string project;
    std::string reset;
    std::string time_zone;
    std::int64_t next = 0;
    bool allows_gaps = false;
    bool no_gaps = false;
    bool no_project = false;
    bool archive = false;
    bool restore = false;
};
void create_series(session& s, const std::string& account, const series_choice& choice);
// It gives numbers again, from `at` on; 0: from the next.
void resume_series(session& s, const std::string& account, const std::string& prefix,
                   std::int64_t at);
void edit_series(session& s, const std::string& account, const series_choice& choice);
void list_series(session& s, const std::string& account);

struct slot_filter {
    std::string state;    // empty: any
    std::string account;  // empty: all
    std::int64_t limit = 0;
};
void list_slots(session& s, const slot_filter& filter);

void show_reaper(session& s);
void sweep(session& s);

// Takes over what the reference server keeps in `file`.
struct import_choice {
    std::string client_id;  // empty: all of the file's
    // Of the one that is imported; empty: as they are, or as the server calls them.
    std::string account;
    std::string prefix;
};

void import_taskchampion(session& s, const std::string& file, const import_choice& choice);

// Takes the tasks of a `task export` into a managed account. `file`: "-" is standard input. With
// their keys, held series go on behind them.
void import_taskwarrior(session& s, const std::string& file, const std::string& account,
                        bool with_keys);

// Takes tasks that have numbers already, a table, into a managed account. `file` as above.
void import_numbers(session& s, const std::string& file, const std::string& account);

// Writes a new one to `file`, which must not be there.
void make_master_key(session& s, const std::string& file);
// Puts a new one before it.
void rotate_master_key(session& s, const std::string& file);
// Once nothing is sealed under them any more, as the server says.
void drop_former_keys(session& s, const std::string& file);

struct audit_filter {
    std::string account;  // empty: all, and what was about the server
    std::int64_t limit = 0;
};
// The latest first.
void show_audit_log(session& s, const audit_filter& filter);

// Reads the data directory itself. False: an invariant does not hold.
bool check(session& s);

struct doctor_choice {
    std::string config_file;  // empty: none
};
// Looks at what a server stands on, whether it runs or not. False: there is a fault.
bool examine(session& s, const doctor_choice& choice);

// Sets the time of a store back that a wrong clock has put ahead. On the data directory itself,
// which no server may have open.
void repair_clock(session& s, bool yes);

// On the server's disk, in a directory that is not there yet, or empty.
void make_backup(session& s, const std::filesystem::path& dir);
void restore(session& s, const std::filesystem::path& backup, bool yes);

}  // namespace callsign::cli
