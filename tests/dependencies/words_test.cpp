// Goal: one vocabulary. Words that were replaced by the field's own terms do not return to what
// users and engineers read: documentation, configuration, the page, and comments of sources.
// Method: each retired expression is searched for in these texts.

#include "modules.hpp"

#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace callsign::dependencies {
namespace {

struct retired {
    const char* expression;  // whole words, in lower case
    const char* instead;
};
constexpr retired all_retired[] = {
    {"vouch(es|ed)?", "certify, CA certificates"},
    {"strangers?", "anonymous client"},
    {"lets? (nobody|them|him|it) in", "disable, enable"},
    {"ha(ve|d|s) (it|them) back", "restore"},
    {"unless said", "(default: X), otherwise"},
    {"mend(s|ed|ing)?", "fix, correct"},
    {"anew", "again"},
    {"under way", "in progress, running"},
    {"what opens", "token"},
    {"the house", "system"},
    {"the promise", "guarantee"},
    {"in vain", "to no effect"},
    {"side versions?", "fork version"},
    {"unasked", "scheduled, automatic"},
    {"turn(s|ed)? away", "reject"},
    {"refus(e|es|ed|al|als)", "reject"},
    {"led back", "rebase"},
    {"in clear", "unencrypted"},
    {"for all to read", "unencrypted"},
    {"once more", "again"},
    {"whoever|somebody|anybody|nobody", "user, operator, client or device"},
    {"call(s|ed)? off", "cancel"},
    {"falls? due", "is scheduled"},
    {"at most so many", "limit"},
    {"is told", "receives"},
    {"product[.]md", "a document of the repository"},
};

// Of code its comments, of other files all.
std::string text_in(const fs::path& file, const std::string& line) {
    if (!is_code(file)) return line;
    const auto at = line.find("// ");
    return at == std::string::npos ? std::string() : line.substr(at);
}

std::string group(const retired& each) {
    return "(?:" + std::string(each.expression) + ")";
}

const char* instead_of(const std::string& word) {
    for (const retired& each : all_retired) {
        if (std::regex_match(word, std::regex(group(each), std::regex::icase))) return each.instead;
    }
    return "";
}

std::vector<fs::path> read_by_people() {
    static const std::set<std::string> kinds{".md", ".toml",    ".yaml", ".sql", ".proto",
                                             ".js", ".service", ".cpp",  ".hpp"};
    std::vector<fs::path> all{root / "README.md"};
    for (const char* const folder : {"docs", "config", "clients", "schema", "src", "include",
                                     "reaper", "scripts", "bench", "tests"}) {
        for (const auto& each : fs::recursive_directory_iterator(root / folder)) {
            const bool is_text = kinds.contains(each.path().extension().string());
            const std::string path = each.path().generic_string();
            const bool is_ours = path.find("/vendor/") == std::string::npos &&
                                 path.find("/node_modules/") == std::string::npos &&
                                 !path.ends_with("/words_test.cpp");
            if (each.is_regular_file() && is_text && is_ours) all.push_back(each.path());
        }
    }
    return all;
}

TEST(words, retired_ones_do_not_return) {
    std::string any;
    for (const retired& each : all_retired) any += (any.empty() ? "" : "|") + group(each);
    const std::regex searched("\\b(" + any + ")\\b", std::regex::icase | std::regex::optimize);
    std::size_t files = 0;
    for (const fs::path& file : read_by_people()) {
        ++files;
        std::ifstream in(file);
        int number = 0;
        for (std::string line; std::getline(in, line);) {
            ++number;
            const std::string text = text_in(file, line);
            std::smatch found;
            if (text.empty() || !std::regex_search(text, found, searched)) continue;
            ADD_FAILURE() << fs::relative(file, root).generic_string() << ":" << number << ": "
                          << found.str() << "; say: " << instead_of(found.str()) << "\n"
                          << line;
        }
    }
    EXPECT_GT(files, 500U) << "the texts were not found";
}

}  // namespace
}  // namespace callsign::dependencies
