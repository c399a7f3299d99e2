// The web page: its paths, the headers of its responses, and paths that do not exist.

#include "api/web/files.hpp"
#include "support/test_server.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

const std::string browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

net::http_response open(test_server& h, const std::string& path, header_list more = {}) {
    more.emplace_back("Accept", browser);
    return h.call(make_request(verb::get, path, "", more));
}

std::string asset(std::string_view name) {
    return "/assets/" + std::string(api::web_version()) + "/" + std::string(name);
}

std::string problem_code(const net::http_response& response) {
    if (response.content_type != "application/problem+json") return {};
    return std::string(boost::json::parse(response.body).as_object().at("code").as_string());
}

TEST(web, browsers_get_the_page_and_other_clients_a_line) {
    test_server h;
    const auto page = open(h, "/");
    EXPECT_EQ(page.status, 200u);
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
    EXPECT_TRUE(page.body.starts_with("<!doctype html>")) << page.body.substr(0, 80);
    EXPECT_EQ(header(page, "Cache-Control"), "no-cache");
    for (const std::string accept : {"", "*/*", "text/html;q=0, */*", "application/json"}) {
        header_list headers;
        if (!accept.empty()) headers.emplace_back("Accept", accept);
        const auto line = h.call(make_request(verb::get, "/", "", headers));
        EXPECT_EQ(line.status, 200u);
        EXPECT_TRUE(line.body.starts_with("TaskChampion sync server v")) << accept;
        EXPECT_EQ(header(line, "Vary"), "Accept");
    }
}

TEST(web, each_task_has_an_address) {
    test_server h;
    const std::string page = open(h, "/").body;
    for (const auto path : {"/SYN-42", "/syn-42", "/INC-20261120-7", "/A_1-1?from=mail",
                            "/01a1f93c-0f29-7000-8062-fc89bbaf8517"}) {
        // Whether the task exists is disclosed only with a token.
        const auto answer = h.call(make_request(verb::get, path, "", {}));
        EXPECT_EQ(answer.status, 200u) << path;
        EXPECT_EQ(answer.body, page) << path;
    }
}

TEST(web, other_paths_do_not_exist) {
    test_server h;
    for (const auto path : {"/SYN", "/42", "/SYN-", "/-1", "/SYN-0x", "/SYN-42/", "/SYN-42/x",
                            "/a-b", "/favicon.ico", "/index.html", "/assets", "/assets/",
                            "/assets/app.js", "/livezz", "/%2e%2e-1", "/SYN%2D42"}) {
        for (const verb method : {verb::get, verb::post}) {
            const auto answer = h.call(make_request(method, path, "", {{"Accept", browser}}));
            EXPECT_EQ(answer.status, 404u) << path;
            EXPECT_EQ(problem_code(answer), "no-such-path") << path;
        }
    }
    EXPECT_EQ(problem_code(open(h, asset("nothing.js"))), "no-such-path");
    EXPECT_EQ(problem_code(open(h, "/assets/0123456789abcdef/app.js")), "no-such-path");
    EXPECT_EQ(h.call(make_request(verb::post, "/SYN-42", "", {})).status, 405u);
}

TEST(web, contains_all_files_that_its_page_refers_to) {
    test_server h;
    const std::string page = open(h, "/").body;
    std::size_t named = 0;
    for (const api::web_file& file : api::web_assets()) {
        const auto answer = open(h, asset(file.name));
        EXPECT_EQ(answer.status, 200u) << file.name;
        EXPECT_EQ(answer.content_type, file.content.content_type) << file.name;
        EXPECT_FALSE(answer.content_type.empty()) << file.name;
        EXPECT_EQ(answer.body, file.content.bytes) << file.name;
        EXPECT_EQ(header(answer, "Cache-Control"), "public, max-age=31536000, immutable");
        // URLs in the page are relative, since a proxy may serve it under another path.
        if (page.find("\"" + asset(file.name).substr(1) + "\"") != std::string::npos) ++named;
    }
    EXPECT_GE(named, 2u) << "its style sheet and its script";
    EXPECT_EQ(page.find("@version@"), std::string::npos);
    EXPECT_EQ(page.find("http://"), std::string::npos);
    EXPECT_EQ(page.find("https://"), std::string::npos);
}

TEST(web, restricts_the_page) {
    test_server h;
    for (const std::string& path : {std::string("/"), std::string("/SYN-1"), asset("app.js")}) {
        const auto answer = open(h, path);
        const std::string_view policy = header(answer, "Content-Security-Policy");
        EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self';")) << policy;
        EXPECT_EQ(policy.find("unsafe"), policy.npos);
        EXPECT_EQ(policy.find("http"), policy.npos);
        for (const auto part :
             {"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"}) {
            EXPECT_NE(policy.find(part), policy.npos) << part;
        }
        EXPECT_EQ(header(answer, "Referrer-Policy"), "no-referrer");
    }
    // The page has no inline styles or scripts: its policy would block them.
    const std::string page = open(h, "/").body;
    for (const auto inner : {"<style", "style=", "<script>", "onclick", "onload"}) {
        EXPECT_EQ(page.find(inner), std::string::npos) << inner;
    }
}

TEST(web, a_cached_file_is_not_sent_again) {
    test_server h;
    for (const std::string& path : {std::string("/"), asset("app.js")}) {
        for (const std::string encoding : {"", "gzip, deflate, br"}) {
            header_list headers;
            if (!encoding.empty()) headers.emplace_back("Accept-Encoding", encoding);
            const auto first = open(h, path, headers);
            const std::string etag(header(first, "ETag"));
            EXPECT_TRUE(etag.starts_with('"') && etag.ends_with('"')) << etag;
            for (const std::string& known : {etag, "\"other\", W/" + etag, std::string("*")}) {
                header_list again = headers;
                again.emplace_back("If-None-Match", known);
                const auto kept = open(h, path, again);
                EXPECT_EQ(kept.status, 304u) << known;
                EXPECT_EQ(kept.body, "");
                EXPECT_EQ(kept.content_type, "");
                EXPECT_EQ(header(kept, "ETag"), etag);
                // A browser also applies the headers of this response to the cached page.
                for (const auto said : {"Content-Security-Policy", "Cache-Control", "Vary"}) {
                    EXPECT_EQ(header(kept, said), header(first, said)) << said;
                    EXPECT_NE(header(kept, said), "") << said;
                }
            }
            header_list other = headers;
            other.emplace_back("If-None-Match", "\"other\"");
            EXPECT_EQ(open(h, path, other).status, 200u);
        }
    }
}

TEST(web, is_compressed_for_clients_that_accept_it) {
    test_server h;
    const auto plain = open(h, asset("app.js"));
    const auto packed = open(h, asset("app.js"), {{"Accept-Encoding", "br, gzip;q=0.5"}});
    EXPECT_EQ(header(plain, "Content-Encoding"), "");
    EXPECT_EQ(header(packed, "Content-Encoding"), "gzip");
    EXPECT_TRUE(packed.body.starts_with("\x1f\x8b"));
    EXPECT_NE(header(plain, "ETag"), header(packed, "ETag"));
    EXPECT_NE(header(packed, "Vary").find("Accept-Encoding"), std::string_view::npos);
    EXPECT_EQ(
        header(open(h, asset("app.js"), {{"Accept-Encoding", "gzip;q=0"}}), "Content-Encoding"),
        "");
}

TEST(web, the_response_to_head_has_the_same_headers) {
    test_server h;
    const auto asked = open(h, "/SYN-42");
    const auto head = h.call(make_request(verb::head, "/SYN-42", "", {{"Accept", browser}}));
    EXPECT_EQ(head.status, 200u);
    EXPECT_EQ(header(head, "ETag"), header(asked, "ETag"));
    EXPECT_EQ(head.content_type, asked.content_type);
}

TEST(web, can_be_disabled) {
    test_server_options without;
    without.service.web.enabled = false;
    test_server h(without);
    EXPECT_TRUE(open(h, "/").body.starts_with("TaskChampion sync server v"));
    EXPECT_EQ(problem_code(open(h, "/SYN-42")), "no-such-path");
    EXPECT_EQ(problem_code(open(h, asset("app.js"))), "no-such-path");
}

}  // namespace
}  // namespace callsign::testing
