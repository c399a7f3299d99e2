#pragma once
// What a command works with: the streams, the choices every command shares, and the one way to ask
// the server. Tests give their own surroundings.

#include "http_client.hpp"
#include "program.hpp"

#include <callsign/ports/local_files.hpp>
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

// Where a server is that nobody has said anything about.
inline constexpr const char* default_url = "http://127.0.0.1:8080";

struct surroundings {
    std::istream& in;
    std::ostream& out;
    std::ostream& err;
    bool in_is_terminal = false;
    bool err_is_terminal = false;
    std::function<const char*(const char*)> environment;
    std::function<http_answer(const server_url&, const http_call&, milliseconds)> exchange;
    local_files files;
    // Unpredictable bytes, fit for keys.
    std::function<void(std::span<std::uint8_t>)> random{};
    std::function<time_point()> now{};
    // As `exchange`, but over in time whatever it is that takes long.
    std::function<http_answer(const server_url&, const http_call&, milliseconds)>
        exchange_in_time{};
    // Another program, by the words of its command line, to its end.
    std::function<finished_program(const std::vector<std::string>&)> run_program{};
    // Where this one is; empty: nobody knows.
    std::filesystem::path program{};
    bool out_is_terminal = false;
    // How wide the terminal of `err` is.
    std::function<std::size_t()> columns{};
    // Since some moment, by a clock that nobody sets.
    std::function<milliseconds()> elapsed{};
    // The names that the environment has.
    std::vector<std::string> variables{};
};

// Of the environment; empty: it is not set.
std::string variable(const surroundings& around, const char* name);

// What an answer that is none of success says is wrong, with a line for each field. Printable.
std::string describe(const http_answer& answer);

// Throws failure if what is said to the server would leave this machine for all to read.
void refuse_in_clear(const server_url& server, bool insecure);

// As given; empty: not given.
struct global_options {
    std::string url;
    std::string token;
    std::string data_dir;
    std::string ca_file;  // who may vouch for a server besides those the system trusts
    std::string timeout;  // 60s, if the command has no other
    bool insecure = false;
    bool json = false;
    std::string color;  // auto, always, never
};

// Who may vouch for a server besides those the system trusts: --cacert, CALLSIGN_CACERT; or nobody.
std::string ca_file_of(const surroundings& around, const global_options& options);

// Accounts, tokens and series are few enough to be shown whole.
inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

class session {
  public:
    session(const surroundings& around, const global_options& options);

    bool json() const noexcept { return options_.json; }
    std::ostream& out() const noexcept { return around_.out; }
    const surroundings& around() const noexcept { return around_; }
    const global_options& options() const noexcept { return options_; }
    // What --timeout says, or its default.
    milliseconds patience() const noexcept { return patience_; }

    // The body of a successful answer, waited for as long as --timeout says, or `at_least`. Throws
    // failure with the problem the server named. Any thread, after the first call of all.
    std::string ask(verb method, const std::string& target,
                    const google::protobuf::Message* body = nullptr, milliseconds at_least = {});

    // What is sent in clear to another machine, the user has said to be so.
    bool insecure() const noexcept { return options_.insecure; }

    // The same, as a message. With --json the answer is printed as it came, and `show` is not
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

    // For the client with this id: what it had sealed, or nothing.
    template <class Answer>
    Answer send_for_client(verb method, const std::string& target, const std::string& client_id,
                           std::string bytes = {}) {
        http_call call{method, target, {}, std::move(bytes)};
        call.content_type = "application/octet-stream";
        call.headers.emplace_back("X-Client-Id", client_id);
        Answer answer;
        read(send(std::move(call)), answer);
        return answer;
    }

    // The whole of a listing, page by page, or its first `limit` rows: `rows` counts those of a
    // message. What is left has a page token in the answer, as the server's pages have.
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
    // Of a list without rows: a sentence, where it is in nobody's way.
    void say_empty(const std::string& sentence) const;
    static void read(const std::string& text, google::protobuf::Message& into);

    // Where the server keeps its data, as far as is known here.
    std::filesystem::path data_dir() const;

  private:
    static std::string page_target(const std::string& target, std::int64_t missing,
                                   const std::string& page);
    // The body of a successful answer; the token is filled in.
    std::string send(http_call call, milliseconds at_least = {});
    void find_server();
    bool directory_is_given() const;
    std::string find_token(bool url_is_of_directory) const;

    const surroundings& around_;
    const global_options& options_;
    milliseconds patience_{};
    server_url server_;
    std::string token_;
};

// Of an account's affairs, as operators see them; `rest` begins with a slash.
std::string account_path(const std::string& account, std::string_view rest);

}  // namespace callsign::cli
