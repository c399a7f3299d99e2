// `callsign doctor`: main examines configuration and environment; this file queries the server and
// shows the findings.

#include "callsign/v1/callsign.pb.h"
#include "color.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "text.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace callsign::cli {
namespace {

namespace json = boost::json;

// A server that does not respond is not waited for.
constexpr const char* doctor_timeout = "10s";
constexpr milliseconds patroni_timeout{3'000};
// Maximum number of held series shown, and of accounts searched for them.
constexpr std::size_t held_max = 10;
constexpr std::int64_t accounts_max = 1000;
std::vector<held_series> held_of(session& s) {
    std::vector<held_series> held;
    const auto accounts =
        s.ask_pages("/v1/admin/accounts", accounts_max, &v1::AccountList::accounts_size);
    for (const v1::Account& account : accounts.accounts()) {
        const auto series = s.ask_pages(account_path(account.name(), "/series"), no_limit,
                                        &v1::SeriesList::series_size);
        for (const v1::Series& each : series.series()) {
            if (each.held()) held.push_back({account.name(), each.prefix()});
            if (held.size() == held_max) return held;
        }
    }
    return held;
}

std::optional<time_point> instant(bool set, const google::protobuf::Timestamp& at) {
    return set ? std::optional(wire::to_time_point(at)) : std::nullopt;
}

std::string first_line_of_error(const std::exception& e) {
    const std::string text = e.what();
    return text.substr(0, text.find('\n'));
}

// Returns why /readyz does not return 200; empty: it does.
std::string why_not_ready(session& s) {
    try {
        s.ask(verb::get, "/readyz");
        return {};
    } catch (const failure& e) {
        return first_line_of_error(e);
    }
}

server_report ask_server(const cli_context& around, global_options options,
                         const std::filesystem::path& data_dir, bool held) {
    server_report word;
    if (options.data_dir.empty() && options.url.empty()) options.data_dir = data_dir.string();
    if (options.timeout.empty()) options.timeout = doctor_timeout;
    try {
        session s(around, options);
        v1::ReaperStatus status;
        session::read(s.ask(verb::get, "/v1/admin/reaper"), status);
        word.window = parse_duration(status.window()).value_or(milliseconds{});
        word.interval = parse_duration(status.interval()).value_or(milliseconds{});
        word.oldest_pending = instant(status.has_oldest_pending(), status.oldest_pending());
        word.last_sweep = instant(status.has_last_sweep(), status.last_sweep());
        word.not_ready = why_not_ready(s);
        if (held) word.held = held_of(s);
    } catch (const std::exception& e) {
        word.error = first_line_of_error(e);
        word.is_alive = session(around, options).is_alive();
    }
    return word;
}

std::string ask_patroni(const cli_context& around, const std::string& host, std::size_t port,
                        const std::string& path) {
    const bool is_v6 = host.find(':') != std::string::npos;
    const server_url server = parse_server_url("http://" + (is_v6 ? "[" + host + "]" : host) + ":" +
                                               std::to_string(port));
    http_call call;
    call.target = path;
    return around.exchange(server, call, patroni_timeout).body;
}

const char* word_of(verdict v) {
    switch (v) {
    case verdict::ok: return "ok";
    case verdict::warning: return "warning";
    case verdict::error: return "error";
    case verdict::skipped: return "skipped";
    }
    return "";
}

color color_of(verdict v) {
    if (v == verdict::error) return color::red;
    return v == verdict::warning ? color::yellow : color::green;
}

// One line each: verdict, check, finding, advice.
void show_diagnoses(session& s, const std::vector<diagnosis>& all) {
    const bool colors = colors_out(s.around(), color_choice_of(s.options().color));
    std::size_t longest = 0;
    for (const diagnosis& each : all) longest = std::max(longest, each.check.size());
    for (const diagnosis& each : all) {
        std::string line(word_of(each.verdict));
        const std::string padding(9 - line.size(), ' ');
        if (each.verdict != verdict::skipped) line = colored(colors, color_of(each.verdict), line);
        line += padding + each.check + std::string(longest + 2 - each.check.size(), ' ');
        line += printable(each.found);
        if (!each.advice.empty()) line += ": " + printable(each.advice);
        s.out() << line << '\n';
    }
}

std::string diagnoses_json(const std::vector<diagnosis>& all, bool ok) {
    json::array checks;
    for (const diagnosis& each : all) {
        checks.push_back(json::object{{"check", each.check},
                                      {"verdict", word_of(each.verdict)},
                                      {"found", each.found},
                                      {"advice", each.advice}});
    }
    return json::serialize(json::object{{"ok", ok}, {"checks", std::move(checks)}});
}

}  // namespace

bool examine(session& s, const doctor_choice& choice) {
    const cli_context& around = s.around();
    doctor_question question;
    if (!choice.config_file.empty()) question.config_file = choice.config_file;
    question.data_dir = s.options().data_dir;
    question.now = around.now();
    question.environment = around.environment;
    question.variables = around.variables;
    question.ask = [&](const std::filesystem::path& data_dir, bool held) {
        return ask_server(around, s.options(), data_dir, held);
    };
    question.ask_patroni = [&](const std::string& host, std::size_t port, const std::string& path) {
        return ask_patroni(around, host, port, path);
    };
    const std::vector<diagnosis> all = around.files.doctor(question);
    const bool ok = std::none_of(all.begin(), all.end(), [](const diagnosis& each) {
        return each.verdict == verdict::error;
    });
    if (s.json()) {
        s.print_json(diagnoses_json(all, ok));
    } else {
        show_diagnoses(s, all);
    }
    return ok;
}

}  // namespace callsign::cli
