#include "session.hpp"

#include "callsign/v1/callsign.pb.h"
#include "failure.hpp"
#include "text.hpp"

#include <callsign/base/describe_file_error.hpp>
#include <callsign/base/text.hpp>
#include <callsign/base/time.hpp>
#include <callsign/wire/media_types.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <fstream>
#include <limits>
#include <unistd.h>

namespace callsign::cli {
namespace {

// Rows per request. The server may return fewer.
constexpr std::int64_t page_size_max = 1000;

constexpr const char* default_timeout = "60s";
// The default of callsignd, so that both work in one directory without options.
constexpr const char* default_data_dir = "callsign-data";

// Returns the first line of a small file, trimmed; empty if there is none.
std::string first_line(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    if (!in.is_open() && errno != ENOENT && errno != ENOTDIR) {
        throw failure("cannot read " + file.string() + ": " + describe_file_error(file, errno));
    }
    return std::string(trimmed(line, " \t\r"));
}

// Closed by its destructor.
class open_file {
  public:
    explicit open_file(int number) : number_(number) {}
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    ~open_file() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const noexcept { return number_; }

  private:
    int number_;
};

// Returns the URL that the directory's running server wrote there; empty: none runs. The server
// locks the file until it ends, however it ends, and no other user may write there.
std::string url_of_running(const std::filesystem::path& data_dir) {
    const std::filesystem::path file = data_dir / "listen.url";
    const open_file open(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (open.number() < 0) {
        if (errno == ENOENT || errno == ENOTDIR) return {};
        throw failure("cannot read " + file.string() + ": " + describe_file_error(file, errno));
    }
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    const bool is_held = ::fcntl(open.number(), F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
    if (!is_held) return {};
    std::array<char, 512> text{};
    const ssize_t size = ::read(open.number(), text.data(), text.size());
    const std::string_view read(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return std::string(trimmed(read.substr(0, read.find('\n')), " \t\r"));
}

}  // namespace

std::string variable(const cli_context& around, const char* name) {
    const char* const value = around.environment ? around.environment(name) : nullptr;
    return value ? value : "";
}

// The text is from the server, or whatever responds instead, so it is made printable.
std::string describe(const http_answer& answer) {
    const std::string status = std::to_string(answer.status);
    v1::Problem problem;
    wire::field_errors unreadable;
    const bool is_problem = answer.content_type.starts_with(wire::media_type::problem) &&
                            wire::decode(wire::format::json, answer.body, problem, unreadable);
    if (!is_problem) return "the server returned " + status + " without a reason";
    std::string text = problem.title().empty() ? "the server returned " + status : problem.title();
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

void reject_in_clear(const server_url& server, bool insecure) {
    if (insecure || server.tls || is_loopback(server)) return;
    throw failure("refusing to send the token unencrypted to " + server.text +
                      ": use https://, a TLS proxy or tunnel on a loopback address, or --insecure",
                  exit_status::not_understood);
}

std::string ca_file_of(const cli_context& around, const global_options& options) {
    return options.ca_file.empty() ? variable(around, "CALLSIGN_CACERT") : options.ca_file;
}

session::session(const cli_context& around, const global_options& options)
    : around_(around), options_(options) {
    const auto timeout =
        parse_duration(options.timeout.empty() ? default_timeout : options.timeout);
    if (!timeout || timeout->count() == 0) {
        throw failure("--timeout must be a duration such as 30s, not " + options.timeout,
                      exit_status::not_understood);
    }
    patience_ = *timeout;
}

std::filesystem::path session::data_dir() const {
    if (!options_.data_dir.empty()) return options_.data_dir;
    const std::string set = variable(around_, "CALLSIGN_STORE_DATA_DIR");
    return set.empty() ? default_data_dir : set;
}

// In this order: --url, the server of --data-dir, CALLSIGN_URL, the running server of the directory
// in use, the default. A directory that was given has a running server or none: its former port may
// be another program's.
void session::find_url() {
    const std::filesystem::path dir = data_dir();
    const std::string running = url_of_running(dir);
    const std::string set = options_.data_dir.empty() ? variable(around_, "CALLSIGN_URL") : "";
    const std::string given = options_.url.empty() ? set : options_.url;
    if (given.empty() && running.empty() && directory_is_given()) {
        throw failure("no server runs on " + dir.string() + ": start callsignd --data-dir " +
                      dir.string() + ", or give its address with --url");
    }
    const std::string& url = given.empty() ? running : given;
    server_ = parse_server_url(url.empty() ? default_url : url);
    server_.ca_file = ca_file_of(around_, options_);
    server_.is_known = !running.empty() && server_.text == running;
}

void session::find_server() {
    find_url();
    token_ = find_token(server_.is_known);
    // A token from this host stays on this host, whatever the address.
    if (!server_.is_known) reject_in_clear(server_, options_.insecure);
}

bool session::directory_is_given() const {
    return !options_.data_dir.empty() || !variable(around_, "CALLSIGN_STORE_DATA_DIR").empty();
}

// A token from a directory that was not given is sent only to that directory's server, not to an
// unknown one.
std::string session::find_token(bool url_is_of_directory) const {
    if (!options_.token.empty()) return options_.token;
    std::string token = variable(around_, "CALLSIGN_TOKEN");
    if (!token.empty()) return token;
    if (directory_is_given() || url_is_of_directory) {
        token = first_line(data_dir() / "admin.token");
        if (!token.empty()) return token;
    }
    if (directory_is_given()) {
        throw failure("no operator token in " + data_dir().string() +
                      ": callsignd writes admin.token there when it first starts");
    }
    throw failure(
        "an operator token is required: --token, CALLSIGN_TOKEN, or the data "
        "directory with --data-dir",
        exit_status::not_understood);
}

bool session::is_alive() {
    try {
        if (server_.text.empty()) find_url();
        http_call call;
        call.target = "/livez";
        return around_.exchange(server_, call, patience_).status == 200;
    } catch (const failure&) {
        return false;
    }
}

std::string session::ask(verb method, const std::string& target,
                         const google::protobuf::Message* body, milliseconds at_least) {
    http_call call{method, target, {}, {}};
    if (body) call.body = wire::encode(wire::format::json, *body);
    return send(std::move(call), at_least);
}

std::string session::send(http_call call, milliseconds at_least) {
    if (token_.empty()) find_server();
    call.token = token_;
    http_answer answer = around_.exchange(server_, call, std::max(patience_, at_least));
    if (answer.status == 400 || answer.status == 409 || answer.status == 422) {
        throw rejection(describe(answer), answer.body);
    }
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

void session::say_empty(const std::string& sentence) const {
    around_.err << sentence << '\n';
}

void session::read(const std::string& text, google::protobuf::Message& into) {
    wire::field_errors found;
    // A response may be long.
    constexpr auto any_number = std::numeric_limits<std::size_t>::max();
    if (wire::decode(wire::format::json, text, into, found, wire::faults_max, any_number)) return;
    throw failure("cannot parse the server's response (" + printable(found.front().field) + ": " +
                  printable(found.front().detail) +
                  "): is the server Callsign, and of this version? --json prints the response");
}

std::string account_path(const std::string& account, std::string_view rest) {
    return "/v1/admin/accounts/" + percent_encode(account) + std::string(rest);
}

}  // namespace callsign::cli
