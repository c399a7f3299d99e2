#include "session.hpp"

#include "callsign/v1/callsign.pb.h"
#include "failure.hpp"
#include "text.hpp"

#include <callsign/base/text.hpp>
#include <callsign/base/time.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace callsign::cli {
namespace {

// Rows asked for at once. The server may give fewer.
constexpr std::int64_t page_size_max = 1000;

constexpr const char* default_timeout = "60s";
// As callsignd's own default, so that both work side by side without a word.
constexpr const char* default_data_dir = "callsign-data";

// The first line of a small file, without the white space around it; empty if there is none.
std::string first_line(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    if (!in.is_open() && errno != ENOENT && errno != ENOTDIR) {
        throw failure("cannot read " + file.string() + ": " + std::strerror(errno));
    }
    return std::string(trimmed(line, " \t\r"));
}

}  // namespace

std::string variable(const surroundings& around, const char* name) {
    const char* const value = around.environment ? around.environment(name) : nullptr;
    return value ? value : "";
}

// The text is the server's, or that of whatever answers in its place, so it is made printable.
std::string describe(const http_answer& answer) {
    const std::string status = std::to_string(answer.status);
    v1::Problem problem;
    wire::faults unreadable;
    const bool is_problem = answer.content_type.starts_with("application/problem+json") &&
                            wire::decode(wire::format::json, answer.body, problem, unreadable);
    if (!is_problem) return "the server answered " + status + " and no reason";
    std::string text = problem.title().empty() ? "the server answered " + status : problem.title();
    if (!problem.detail().empty()) text += ": " + problem.detail();
    if (!problem.code().empty()) text += " (" + problem.code() + ")";
    text = printable(text);
    for (const v1::FieldProblem& error : problem.errors()) {
        const std::string& field = error.field().empty() ? "body" : error.field();
        text += "\n  " + printable(field + ": " + error.detail());
    }
    if (answer.status >= 500 && !problem.request_id().empty()) {
        text += "\n  request " + printable(problem.request_id());
    }
    return text;
}

void refuse_in_clear(const server_url& server, bool insecure) {
    if (insecure || is_loopback(server)) return;
    throw failure("the token, and any secret, would go to " + server.text +
                      " for all to read: use a tunnel or a proxy with TLS that listens on this "
                      "machine, or say --insecure",
                  exit_status::not_understood);
}

session::session(const surroundings& around, const global_options& options)
    : around_(around), options_(options) {
    const auto patience =
        parse_duration(options.timeout.empty() ? default_timeout : options.timeout);
    if (!patience || patience->count() == 0) {
        throw failure("--timeout must be a duration such as 30s, not " + options.timeout,
                      exit_status::not_understood);
    }
    patience_ = *patience;
}

std::filesystem::path session::data_dir() const {
    if (!options_.data_dir.empty()) return options_.data_dir;
    const std::string set = variable(around_, "CALLSIGN_STORE_DATA_DIR");
    return set.empty() ? default_data_dir : set;
}

// --url, CALLSIGN_URL, what a server wrote into its data directory, the default.
void session::find_server() {
    const std::string given =
        options_.url.empty() ? variable(around_, "CALLSIGN_URL") : options_.url;
    const std::string of_directory = first_line(data_dir() / "listen.url");
    const std::string& url = given.empty() ? of_directory : given;
    server_ = parse_server_url(url.empty() ? default_url : url);
    const bool is_of_directory = given.empty() || given == of_directory;
    token_ = find_token(is_of_directory);
    // What a server on this machine wrote stays on this machine, by whatever address.
    if (!is_of_directory) refuse_in_clear(server_, options_.insecure);
}

// A token from a directory nobody named goes to the server of that directory alone: another one
// could be anyone's.
std::string session::find_token(bool url_is_of_directory) const {
    if (!options_.token.empty()) return options_.token;
    std::string token = variable(around_, "CALLSIGN_TOKEN");
    if (!token.empty()) return token;
    const bool directory_is_given =
        !options_.data_dir.empty() || !variable(around_, "CALLSIGN_STORE_DATA_DIR").empty();
    if (directory_is_given || url_is_of_directory) {
        token = first_line(data_dir() / "admin.token");
        if (!token.empty()) return token;
    }
    if (directory_is_given) {
        throw failure("there is no operator's token in " + data_dir().string() +
                      ": callsignd writes admin.token there when it first starts");
    }
    throw failure(
        "an operator's token is needed: --token, CALLSIGN_TOKEN, or the server's "
        "directory with --data-dir",
        exit_status::not_understood);
}

std::string session::ask(verb method, const std::string& target,
                         const google::protobuf::Message* body, milliseconds at_least) {
    http_call call{method, target, {}, {}};
    if (body) call.body = wire::encode(wire::format::json, *body);
    return send(std::move(call), at_least);
}

std::string session::send(http_call call, milliseconds at_least) {
    if (server_.text.empty()) find_server();
    call.token = token_;
    http_answer answer = around_.exchange(server_, call, std::max(patience_, at_least));
    if (answer.status == 409 || answer.status == 422) throw refusal(describe(answer), answer.body);
    if (answer.status < 200 || answer.status > 299) throw failure(describe(answer));
    return std::move(answer.body);
}

std::string session::page_target(const std::string& target, std::int64_t missing,
                                 const std::string& page) {
    const char* const join = target.find('?') == target.npos ? "?" : "&";
    const std::string size = std::to_string(std::min(missing, page_size_max));
    const std::string first = target + join + "pageSize=" + size;
    return page.empty() ? first : first + "&pageToken=" + percent_encode(page);
}

void session::print_json(std::string text) const {
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    out() << text << '\n';
}

void session::read(const std::string& text, google::protobuf::Message& into) {
    wire::faults found;
    if (wire::decode(wire::format::json, text, into, found)) return;
    throw failure("the server's answer is not understood (" + printable(found.front().field) +
                  ": " + printable(found.front().detail) +
                  "): is it Callsign, and of this version? --json prints it as it is");
}

std::string account_path(const std::string& account, std::string_view rest) {
    return "/v1/admin/accounts/" + percent_encode(account) + std::string(rest);
}

}  // namespace callsign::cli
