// `callsign hook install`: writes the hooks and their settings.

#include "commands.hpp"
#include "failure.hpp"
#include "hook.hpp"
#include "input.hpp"
#include "key_settings.hpp"
#include "output.hpp"
#include "text.hpp"

#include <callsign/base/describe_file_error.hpp>
#include <callsign/base/text.hpp>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>

namespace callsign::cli {
namespace {

constexpr std::string_view mark_of_ours = "# Written by callsign hook install.";

// Quotes a word for sh.
std::string in_sh_quotes(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

// The task passes whatever happens to the program (moved, libraries missing, killed).
std::string hook_script(const std::filesystem::path& program, const std::string& event) {
    const char* const as_it_came =
        event == "on-add" ? R"("$input")" : R"($(printf '%s\n' "$input" | tail -n 1))";
    std::string script = "#!/bin/sh\n";
    script += mark_of_ours;
    script += R"(
# If callsign cannot be run the task passes as it is: Taskwarrior rejects what a hook fails on.
input=$(cat)
output=$(printf '%s\n' "$input" | )";
    script += in_sh_quotes(program.string()) + " hook " + event;
    script += R"( "$@") && [ -n "$output" ] ||
    output=)";
    script += as_it_came;
    script += R"(
printf '%s\n' "$output"
)";
    return script;
}

bool is_of_others(const std::filesystem::path& file) {
    if (!std::filesystem::exists(std::filesystem::symlink_status(file))) return false;
    std::ifstream in(file);
    return read_all(in).find(mark_of_ours) == std::string::npos;
}

// Not from the command line, which other users of the host can see.
std::string read_token(const session& s, const hook_choice& choice) {
    if (choice.token_file.empty()) return variable(s.around(), "CALLSIGN_TOKEN");
    const std::string text = read_input(s.around(), choice.token_file);
    const std::string token(trimmed(text.substr(0, text.find('\n')), " \t\r"));
    if (token.empty()) throw failure(choice.token_file + " does not contain a token (one line)");
    return token;
}

// Returns the settings of this installation, or else those of the previous one.
key_settings choose_settings(const session& s, const hook_choice& choice,
                             const std::filesystem::path& data_dir) {
    const global_options& given = s.options();
    key_settings settings = read_key_settings(data_dir);
    std::string url = given.url.empty() ? variable(s.around(), "CALLSIGN_URL") : given.url;
    if (url.empty()) url = settings.url.empty() ? default_url : settings.url;
    if (url != settings.url) {
        // The former URL's token and settings are not for another URL.
        settings.token.clear();
        settings.insecure = false;
        settings.ca_file.clear();
        settings.url = url;
    }
    const std::string token = read_token(s, choice);
    if (!token.empty()) settings.token = token;
    if (settings.token.empty()) {
        throw failure("no write token of the account: use --token-file or CALLSIGN_TOKEN",
                      exit_status::not_understood);
    }
    // Absolute, since hooks run in any directory.
    const std::string ca_file = ca_file_of(s.around(), given);
    if (!ca_file.empty()) settings.ca_file = std::filesystem::absolute(ca_file).string();
    settings.insecure = settings.insecure || given.insecure;
    settings.project = settings.project && !choice.no_project;
    reject_in_clear(parse_server_url(settings.url), settings.insecure);
    if (!choice.attribute.empty()) settings.attribute = choice.attribute;
    check_attribute(settings.attribute);
    if (!given.timeout.empty()) settings.timeout = given.timeout;
    return settings;
}

std::string first_line_of(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

}  // namespace

std::filesystem::path taskwarrior_data_dir(const session& s, const hook_choice& choice) {
    const cli_context& around = s.around();
    if (!choice.data_dir.empty()) return std::filesystem::absolute(choice.data_dir);
    const std::string set = variable(around, "TASKDATA");
    if (!set.empty()) return set;
    const std::filesystem::path home = variable(around, "HOME");
    std::string said;
    try {
        const finished_program done =
            around.run_program({choice.task_program, "rc.hooks=off", "rc.verbose=nothing", "_get",
                                "rc.data.location"});
        if (done.status == 0) said = first_line_of(done.out);
    } catch (const failure&) {
        // Taskwarrior is not installed yet.
    }
    if (said.starts_with("~/")) return home / said.substr(2);
    return said.empty() ? home / ".task" : std::filesystem::path(said);
}

void install_hooks(session& s, const hook_choice& choice) {
    if (!s.options().token.empty()) {
        throw failure(
            "other users can read a token on the command line: use --token-file FILE, "
            "or - for standard input",
            exit_status::not_understood);
    }
    if (s.around().program.empty()) throw failure("cannot find the path of this program");
    const std::filesystem::path data_dir = taskwarrior_data_dir(s, choice);
    const key_settings settings = choose_settings(s, choice, data_dir);
    const std::filesystem::path hooks = data_dir / "hooks";
    constexpr std::array<const char*, 2> events{"on-add", "on-modify"};
    const auto file_of = [&](const char* event) {
        return hooks / (std::string(event) + ".callsign");
    };
    for (const char* event : events) {
        const std::string file = file_of(event).string();
        if (!is_of_others(file)) continue;
        confirm(s, choice.yes, "Overwrite " + file + "? Another program wrote it.",
                file + " exists and was written by another program");
    }

    std::error_code error;
    std::filesystem::create_directories(hooks, error);
    if (error)
        throw failure("cannot make " + hooks.string() + ": " +
                      describe_file_error(hooks, error.value(), file_use::making));
    write_key_settings(data_dir, settings);
    boost::json::array files;
    for (const char* event : events) {
        write_output(file_of(event), hook_script(s.around().program, event),
                     std::filesystem::perms{0755});
        files.emplace_back(file_of(event).string());
    }
    const std::string kept = settings_file(data_dir).string();
    const std::string lines =
        "uda." + settings.attribute + ".type=string\nuda." + settings.attribute + ".label=Key\n";
    if (s.json()) {
        return s.print_json(boost::json::serialize(boost::json::object{
            {"hooks", std::move(files)}, {"settings", kept}, {"taskrc", lines}}));
    }
    for (const auto& file : files) s.out() << printable(file.as_string().c_str()) << '\n';
    s.out() << printable(kept) << "\n\nLines for .taskrc:\n\n" << lines;
}

}  // namespace callsign::cli
