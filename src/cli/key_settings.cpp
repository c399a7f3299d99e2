#include "key_settings.hpp"

#include "failure.hpp"
#include "output.hpp"

#include <callsign/base/describe_file_error.hpp>
#include <callsign/base/text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>

namespace callsign::cli {
namespace {

// Returns false for an unknown name or an invalid value.
bool set_one(key_settings& settings, std::string_view name, std::string_view value) {
    if (name == "insecure" || name == "project") {
        (name == "insecure" ? settings.insecure : settings.project) = value == "true";
        return value == "true" || value == "false";
    }
    std::string* const text = name == "url"         ? &settings.url
                              : name == "token"     ? &settings.token
                              : name == "cacert"    ? &settings.ca_file
                              : name == "attribute" ? &settings.attribute
                              : name == "timeout"   ? &settings.timeout
                                                    : nullptr;
    if (text) *text = value;
    return text && !value.empty();
}

}  // namespace

std::filesystem::path settings_file(const std::filesystem::path& taskwarrior_data) {
    return taskwarrior_data / "callsign.conf";
}

key_settings read_key_settings(const std::filesystem::path& taskwarrior_data) {
    const std::filesystem::path file = settings_file(taskwarrior_data);
    key_settings settings;
    std::ifstream in(file);
    if (!in.is_open()) {
        if (errno == ENOENT || errno == ENOTDIR) return settings;
        throw failure("cannot read " + file.string() + ": " + describe_file_error(file, errno));
    }
    int number = 0;
    for (std::string text; std::getline(in, text);) {
        ++number;
        const std::string_view line = trimmed(text, " \t\r");
        if (line.empty() || line.starts_with('#')) continue;
        const auto equals = line.find('=');
        const bool is_understood =
            equals != line.npos &&
            set_one(settings, trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
        // The line's text is not repeated: it may be the token.
        if (!is_understood) {
            throw failure(file.string() + ": line " + std::to_string(number) +
                          " is not understood");
        }
    }
    check_attribute(settings.attribute);
    return settings;
}

void write_key_settings(const std::filesystem::path& taskwarrior_data,
                        const key_settings& settings) {
    std::string text = "# Written by callsign hook install, for the hooks of this Taskwarrior.\n";
    if (!settings.url.empty()) text += "url = " + settings.url + "\n";
    if (!settings.token.empty()) text += "token = " + settings.token + "\n";
    if (!settings.ca_file.empty()) text += "cacert = " + settings.ca_file + "\n";
    if (settings.insecure) text += "insecure = true\n";
    if (!settings.project) text += "project = false\n";
    const key_settings usual;
    if (settings.attribute != usual.attribute) text += "attribute = " + settings.attribute + "\n";
    if (settings.timeout != usual.timeout) text += "timeout = " + settings.timeout + "\n";
    using std::filesystem::perms;
    write_output(settings_file(taskwarrior_data), text, perms::owner_read | perms::owner_write);
}

// The rules of callsignd's `key_attribute`, which is the same attribute.
void check_attribute(const std::string& attribute) {
    constexpr std::array<std::string_view, 26> taken{
        "annotations", "depends", "description", "due",      "end",    "entry",    "id",
        "imask",       "last",    "mask",        "modified", "parent", "priority", "project",
        "recur",       "rtype",   "scheduled",   "start",    "status", "tags",     "template",
        "until",       "urgency", "uuid",        "wait",     "limit"};
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    const bool is_good =
        !attribute.empty() && attribute.size() <= 64 && is_lower(attribute.front()) &&
        std::all_of(attribute.begin(), attribute.end(),
                    [&](char c) { return is_lower(c) || is_digit(c) || c == '_'; }) &&
        std::find(taken.begin(), taken.end(), attribute) == taken.end() &&
        !attribute.starts_with("tag_") && !attribute.starts_with("dep_") &&
        !attribute.starts_with("annotation_");
    if (is_good) return;
    throw failure(
        "the attribute must consist of a-z, 0-9 and _ and not be one of Taskwarrior's, unlike " +
            attribute,
        exit_status::not_understood);
}

key_server find_key_server(const session& s, const key_settings& settings) {
    const global_options& given = s.options();
    const bool is_in_file = !settings.token.empty();
    std::string url = is_in_file ? "" : variable(s.around(), "CALLSIGN_URL");
    if (url.empty()) url = settings.url.empty() ? default_url : settings.url;
    std::string token = is_in_file ? settings.token : variable(s.around(), "CALLSIGN_TOKEN");
    bool insecure = given.insecure || (settings.insecure && url == settings.url);
    if (!given.url.empty() && given.url != url) {
        url = given.url;
        token.clear();
        insecure = given.insecure;
    }
    if (!given.token.empty()) token = given.token;
    if (token.empty()) {
        throw failure("no token of the account: run callsign hook install --token-file FILE",
                      exit_status::not_understood);
    }
    key_server server{parse_server_url(url), std::move(token)};
    server.url.ca_file = ca_file_of(s.around(), given);
    if (server.url.ca_file.empty()) server.url.ca_file = settings.ca_file;
    reject_in_clear(server.url, insecure);
    return server;
}

}  // namespace callsign::cli
