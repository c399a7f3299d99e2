#include "files.hpp"
#include "handlers.hpp"
#include "shared/coding.hpp"
#include "shared/negotiation.hpp"
#include "shared/problem.hpp"

#include <callsign/domain/task.hpp>

#include <algorithm>

namespace callsign::api {
namespace {

using boost::beast::http::field;

// The page may use files and responses of this server only, scripts and styles only from files, and
// HTML only from lit-html's own templates.
constexpr const char* content_security_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types lit-html";

http_response answer_file(const request_context& c, const web_file& file,
                          std::string_view caching) {
    http_response response = answer_file(c, file.content, caching, "Accept, Accept-Encoding");
    const std::initializer_list<std::pair<std::string, std::string>> more = {
        {"Content-Security-Policy", content_security_policy},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"}};
    response.headers.insert(response.headers.end(), more.begin(), more.end());
    return response;
}

http_response answer_product() {
    http_response response;
    response.content_type = "text/plain; charset=utf-8";
    // Programs look for the beginning of this line, which is the reference server's.
    response.body = "TaskChampion sync server v" CALLSIGN_VERSION
                    " (Callsign: every task has a short key such as SYN-42)\n";
    response.headers = {{"Cache-Control", "no-store, max-age=0"}, {"Vary", "Accept"}};
    return response;
}

http_response answer_no_file(const request_context& c) {
    return answer_problem(c, problems::no_such_path, "GET /openapi.yaml describes all paths.");
}

}  // namespace

bool is_task_ref(const captures& captured) {
    return parse_task_ref(captured[0]).has_value();
}

awaitable<http_response> get_front(web_context& w, request_context& c) {
    const bool is_person = asks_for_page(list_of(c.request, field::accept));
    if (!w.options.enabled || !is_person) co_return answer_product();
    co_return answer_file(c, web_page(), ask_again);
}

awaitable<http_response> get_page(web_context& w, request_context& c) {
    if (!w.options.enabled) co_return answer_no_file(c);
    // The files that the page names have their version in the address.
    co_return answer_file(c, web_page(), ask_again);
}

awaitable<http_response> get_asset(web_context& w, request_context& c) {
    const auto all = web_assets();
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const web_file& each) { return each.name == c.captured[1]; });
    const bool is_there = found != all.end() && c.captured[0] == web_version();
    if (!w.options.enabled || !is_there) co_return answer_no_file(c);
    co_return answer_file(c, *found, keep_for_ever);
}

}  // namespace callsign::api
