// Goal: no two sources of a unity build declare the same internal name. The sources of a batch
// share one unnamed namespace, so a second function of a name overloads the first, or silently
// replaces it when the batches change. Method: the test reads the tokens of each source and
// collects, per module, declarations directly inside an unnamed namespace and `static` ones outside
// classes.

#include "modules.hpp"

#include <algorithm>
#include <cctype>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::dependencies {
namespace {

// Returns identifiers, numbers and single punctuation marks; `::` is one token. Omits comments and
// preprocessor lines, and the contents of literals between their quotes.
std::vector<std::string> tokens_of(const std::string& code) {
    static const std::regex token(
        R"re(//[^\n]*|/\*[^]*?\*/|(^|\n)[ ]*#(\\\n|[^\n])*)re"
        R"re(|R"([a-z]*)\([^]*?\)\2"|"(\\.|[^"\\\n])*"|'(\\.|[^'\\\n])+')re"
        R"re(|([A-Za-z_]\w*)|([0-9][\w.']*)|(::|[^\s]))re");
    std::vector<std::string> all;
    for (std::sregex_iterator at(code.begin(), code.end(), token), end; at != end; ++at) {
        const std::string text = at->str();
        if (text.starts_with("//") || text.starts_with("/*") || text.find('#') != text.npos)
            continue;
        all.push_back(text.ends_with('"') ? "\"\"" : text);
    }
    return all;
}

bool is_identifier(const std::string& token) {
    return std::isalpha(static_cast<unsigned char>(token[0])) != 0 || token[0] == '_';
}

// Returns the name that a declaration introduces, from its tokens up to `;` or `{`.
std::optional<std::string> name_in(const std::vector<std::string>& declaration) {
    static const std::set<std::string> kinds{"struct", "class", "union", "enum"};
    std::size_t at = 0;
    const auto token = [&](std::size_t i) {
        return i < declaration.size() ? declaration[i] : std::string();
    };
    // Skips the contents of brackets, which declare no name.
    const auto pass = [&](const char* open, const char* close) {
        int depth = 0;
        do {
            if (token(at) == open) ++depth;
            if (token(at) == close) --depth;
        } while (++at < declaration.size() && depth > 0);
    };
    if (token(at) == "template") {
        ++at;
        pass("<", ">");
    }
    while (token(at) == "[") pass("[", "]");
    if (token(at) == "using")
        return token(at + 2) == "=" ? std::optional(token(at + 1)) : std::nullopt;
    if (token(at) == "concept") return token(at + 1);
    // The compiler rejects conflicting namespace aliases.
    if (token(at) == "namespace") return std::nullopt;
    if (token(at) == "requires") {
        ++at;
        pass("(", ")");
    }
    if (kinds.contains(token(at))) {
        ++at;
        if (kinds.contains(token(at))) ++at;
        // Not supported: `struct x y = ...`. It is rare enough to be avoided.
        return token(at).empty() ? std::nullopt : std::optional(token(at));
    }
    std::optional<std::string> name;
    while (at < declaration.size()) {
        const std::string& each = declaration[at];
        if (each == "operator" || each == "static_assert" || each == "friend") return std::nullopt;
        if (each == "<") {
            pass("<", ">");
            continue;
        }
        if (each == "(" || each == "=" || each == "[") break;
        if (is_identifier(each)) {
            // x::y is defined in another namespace or class.
            name = token(at + 1) == "(" && at > 0 && token(at - 1) == "::" ? std::nullopt
                                                                           : std::optional(each);
        }
        ++at;
    }
    return name;
}

// Returns the internal names that `code` declares.
std::set<std::string> own_names_in(const std::string& code) {
    enum class kind { unnamed, named, other };
    std::vector<kind> open;
    std::set<std::string> names;
    std::vector<std::string> declaration;
    int parentheses = 0;
    const auto is_outside_of_all = [&] {
        return std::all_of(open.begin(), open.end(), [](kind k) { return k != kind::other; });
    };
    const auto take = [&] {
        const bool is_unnamed = !open.empty() && open.back() == kind::unnamed;
        const bool is_static = !declaration.empty() && declaration[0] == "static";
        if (is_outside_of_all() && (is_unnamed || is_static)) {
            if (is_static) declaration.erase(declaration.begin());
            if (const auto name = name_in(declaration)) names.insert(*name);
        }
    };
    for (const std::string& token : tokens_of(code)) {
        if (token == "(") ++parentheses;
        if (token == ")") --parentheses;
        if (token == "{") {
            const bool is_namespace = !declaration.empty() && declaration[0] == "namespace";
            if (is_namespace) {
                open.push_back(declaration.size() == 1 ? kind::unnamed : kind::named);
            } else {
                take();
                open.push_back(kind::other);
            }
            // The rest of `= {` and of a member initializer declares no name.
            if (is_outside_of_all()) declaration.clear();
            continue;
        }
        if (token == "}") {
            if (!open.empty()) open.pop_back();
            declaration.clear();
            continue;
        }
        if (!is_outside_of_all()) continue;
        if (token == ";" && parentheses == 0) {
            take();
            declaration.clear();
            continue;
        }
        declaration.push_back(token);
    }
    names.erase("TEST");
    names.erase("TEST_F");
    names.erase("TEST_P");
    return names;
}

// Returns each internal name that several sources below `folder` declare, with those sources.
std::vector<std::string> names_twice_in(const fs::path& folder) {
    std::map<std::string, std::vector<std::string>> sources_of;
    for (const fs::path& source : sources_in(folder)) {
        std::ifstream in(source);
        const std::string code{std::istreambuf_iterator<char>(in), {}};
        for (const std::string& name : own_names_in(code)) {
            sources_of[name].push_back(fs::relative(source, folder).string());
        }
    }
    std::vector<std::string> all;
    for (const auto& [name, sources] : sources_of) {
        if (sources.size() < 2) continue;
        std::string text = name + ":";
        for (const std::string& each : sources) text += " " + each;
        all.push_back(text);
    }
    return all;
}

TEST(names, no_two_sources_of_a_module_have_one_name_for_two_things) {
    std::size_t seen = 0;
    for (const module_info& r : declared_modules()) {
        for (const std::string& each : names_twice_in(root / r.folder)) {
            ADD_FAILURE() << r.folder << ": " << each;
        }
        for (const fs::path& source : sources_in(root / r.folder)) {
            std::ifstream in(source);
            seen += own_names_in(std::string{std::istreambuf_iterator<char>(in), {}}).size();
        }
    }
    EXPECT_GT(seen, 1000u);
}

TEST(names, what_a_source_has_for_itself_is_found) {
    const std::string code = R"cpp(
#define not_this(x) int neither = x;
        namespace seen_by_all {
        int everybodys = 1;
        static int static_one;
        }  // namespace seen_by_all
        namespace {
        namespace alias = std::chrono;
        }
        static void static_function() {
            int local = 1;
        }
        namespace callsign {
        namespace {
        // int in_a_comment = 1;
        constexpr std::string_view text = "int in_text = 1;";
        constexpr int number = 1'000, more[] = {1, 2};
        struct type {
            int member = 1;
            void method();
        };
        enum class choice : int { first };
        struct derived final : type {};
        using shorter = std::map<int, std::string>;
        using std::string;
        template <typename T>
        requires(sizeof(T) > 1) std::vector<T> function(const T& argument, int other = 2) {
            return {argument};
        }
        [[nodiscard]] constexpr auto returns(int i) -> bool;
        const std::map<std::string, int>& exceptions() {
            static const std::map<std::string, int> all{};
            return all;
        }
        void type::method() {}
        std::ostream& operator<<(std::ostream& out, type) {
            return out;
        }
        const char* const pattern = R"re(int in_raw = 1;)re";
        const auto lambda = [](int i) {
            int inside = i;
            return inside;
        };
        concept small = sizeof(int) < 8;
        }  // namespace
        void public_function() {}
        }  // namespace callsign
    )cpp";
    EXPECT_EQ(own_names_in(code),
              (std::set<std::string>{"choice", "derived", "exceptions", "function", "lambda",
                                     "number", "pattern", "returns", "shorter", "small",
                                     "static_function", "static_one", "text", "type"}));
}

}  // namespace
}  // namespace callsign::dependencies
