#pragma once
// What commands use: streams, global options, and requests to the server. Tests replace the
// cli_context.

#include "http_client.hpp"
#include "program.hpp"

#include <callsign/ports/local_files.hpp>
#include <callsign/wire/media_types.hpp>
#include <callsign/wire/message.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <google/protobuf/message.h>
#include <istream>
#include <limits>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace callsign::cli {

// The server's default URL.
inline constexpr const char* default_url = "http://127.0.0.1:8080";

struct cli_context {
    std::istream& in;
    std::ostream& out;
    std::ostream& err;
    bool in_is_terminal = false;
    bool err_is_terminal = false;
    std::function<const char*(const char*)> environment;
    std::function<http_answer(const server_url&, const http_call&, milliseconds)> exchange;
    local_files files;
    // Fills in unpredictable bytes, fit for keys.
    std::function<void(std::span<std::uint8_t>)> random{};
    std::function<time_point()> now{};
    // As `exchange`, with a timeout for everything, name resolution included.
    std::function<http_answer(const server_url&, const http_call&, milliseconds)>
        exchange_in_time{};
    // Runs another program, given by the words of its command line, to its end.
    std::function<finished_program(const std::vector<std::string>&)> run_program{};
    // Path of this program; empty: unknown.
    std::filesystem::path program{};
    bool out_is_terminal = false;
    // Width of the terminal of `err`.
    std::function<std::size_t()> columns{};
    // Monotonic clock.
    std::function<milliseconds()> elapsed{};
    // Names of all environment variables.
    std::vector<std::string> variables{};
};

// Returns an environment variable; empty: not set.
std::string variable(const cli_context& around, const char* name);

// Returns the error in a response, with a line for each field. Printable.
std::string describe(const http_answer& answer);

// Throws failure if the request would leave this host unencrypted.
void reject_in_clear(const server_url& server, bool insecure);

// Empty members are not given.
struct global_options {
    std::string url;
    std::string token;
    std::string data_dir;
    std::string ca_file;  // additional CA certificates
    std::string timeout;  // default: 60s, unless the command has another
    bool insecure = false;
    bool json = false;
    std::string color;  // auto, always, never
};

// Returns the file with additional CA certificates: --cacert, CALLSIGN_CACERT, or none.
std::string ca_file_of(const cli_context& around, const global_options& options);

// Accounts, tokens and series are few enough to be listed completely.
inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

class session {
  public:
    session(const cli_context& around, const global_options& options);

    bool json() const noexcept { return options_.json; }
    std::ostream& out() const noexcept { return around_.out; }
    const cli_context& around() const noexcept { return around_; }
    const global_options& options() const noexcept { return options_; }
    // Returns --timeout, or its default.
    milliseconds timeout() const noexcept { return patience_; }

    // Returns the body of a successful response, with a timeout of --timeout, or `at_least` if
    // longer. Throws failure with the server's problem. Any thread, after the first call.
    std::string ask(verb method, const std::string& target,
                    const google::protobuf::Message* body = nullptr, milliseconds at_least = {});

    // Returns whether the server responds, which needs no token. Throws nothing.
    bool is_alive();

    // Returns whether the user allows unencrypted requests to other hosts.
    bool insecure() const noexcept { return options_.insecure; }

    // As ask(), for a message. With --json the response is printed as it is, and `show` is not
    // called.
    template <class Answer>
    void ask_and_show(verb method, const std::string& target, const google::protobuf::Message* body,
                      const std::function<void(const Answer&)>& show) {
        const std::string text = ask(method, target, body);
        if (json()) return print_json(text);
        Answer answer;
        read(text, answer);
        show(answer);
    }

    // For the client with this ID: `bytes` are sealed data, or empty.
    template <class Answer>
    Answer send_for_client(verb method, const std::string& target, const std::string& client_id,
                           std::string bytes = {}) {
        http_call call{method, target, {}, std::move(bytes)};
        call.content_type = wire::media_type::octets;
        call.headers.emplace_back("X-Client-Id", client_id);
        Answer answer;
        read(send(std::move(call)), answer);
        return answer;
    }

    // Returns a listing, page by page, up to `limit` rows: `rows` counts those of a message. If
    // there are more, the result has a page token, as the server's pages have.
    template <class List>
    List ask_pages(const std::string& target, std::int64_t limit, int (List::*rows)() const) {
        List all;
        do {
            List page;
            const std::int64_t missing = limit - (all.*rows)();
            read(ask(verb::get, page_target(target, missing, all.next_page_token())), page);
            all.clear_next_page_token();
            all.MergeFrom(page);
        } while ((all.*rows)() < limit && !all.next_page_token().empty());
        return all;
    }

    void print_json(std::string text) const;
    // Prints a sentence for a list without rows, to standard error.
    void say_empty(const std::string& sentence) const;
    static void read(const std::string& text, google::protobuf::Message& into);

    // Returns the server's data directory, as far as it is known here.
    std::filesystem::path data_dir() const;

  private:
    static std::string page_target(const std::string& target, std::int64_t missing,
                                   const std::string& page);
    // Returns the body of a successful response; fills in the token.
    std::string send(http_call call, milliseconds at_least = {});
    void find_url();
    void find_server();
    bool directory_is_given() const;
    std::string find_token(bool url_is_of_directory) const;

    const cli_context& around_;
    const global_options& options_;
    milliseconds patience_{};
    server_url server_;
    std::string token_;
};

// Returns the operators' path of an account; `rest` begins with a slash.
std::string account_path(const std::string& account, std::string_view rest);

}  // namespace callsign::cli
